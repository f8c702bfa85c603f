// Validates what callers say about captions: language and label.
import { badRequest } from '../platform/http/errors.ts';

const MAX_TAG_LENGTH = 35;
/** Extensions say nothing about a text, but private subtags tell apart what no language does. */
const TAG = /^[a-z]{2,3}(?:-[a-z\d]{2,8})*(?:-x(?:-[a-z\d]{1,8})+)?$/i;
const PRIVATE_SUBTAGS = /-x-.*/;

/** The canonical form of a BCP 47 tag or an ISO 639-2 code such as `ger`; undefined for other text. */
export function toLanguage(tag: string): string | undefined {
  if (tag.length > MAX_TAG_LENGTH || !TAG.test(tag)) return undefined;
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Throws BAD_REQUEST. */
export function parseLanguage(tag: string): string {
  const language = toLanguage(tag);
  if (language !== undefined) return language;
  throw badRequest('lang must be a BCP 47 language tag, such as "en" or "pt-BR"', {
    field: 'lang',
    limit: MAX_TAG_LENGTH,
  });
}

const UNKNOWN = 'und';

/** The name of a language in that language itself. */
export function nameOfLanguage(language: string): string {
  const known = language.replace(PRIVATE_SUBTAGS, '');
  if (known === UNKNOWN) return 'Unknown language';
  return new Intl.DisplayNames([known], { type: 'language', fallback: 'code' }).of(known) ?? language;
}

/** Throws BAD_REQUEST. A label is one line of text. */
export function parseLabel(label: string | undefined, language: string): string {
  const text = label?.trim() ?? nameOfLanguage(language);
  if (text !== '' && text.isWellFormed() && !/[\p{Cc}\u2028\u2029]/u.test(text)) return text;
  throw badRequest('label must be one line of text', { field: 'label' });
}
