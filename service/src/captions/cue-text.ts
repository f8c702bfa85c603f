// Reduces the text of a cue to the tags that WebVTT players need, correctly nested and escaped.

/** `<c>` and `<lang>` set styles and languages, `<v>` names the speaker. */
const TAGS: readonly string[] = ['b', 'i', 'u', 'c', 'v', 'lang', 'ruby', 'rt'];
/** Players build a tree from the tags. */
const MAX_DEPTH = 16;
const MAX_CLASSES = 8;
const MAX_ANNOTATION = 200;

const TIMESTAMP = /^<(?:\d{2,4}:)?[0-5]\d:[0-5]\d\.\d{3}>$/;
const START = /^<([a-z]+)((?:\.[^\s.<>]*)*)(?:\s([^<>]*))?>$/i;
const END = /^<\/([a-z]*)>$/i;
/** A `<` that starts no tag, as in `1 < 2`, is text. */
const TAG = /<(?:[a-z/.]|\d\d+:)[^<>]*>/gi;
const LANGUAGE = /^[a-z\d]{1,8}(?:-[a-z\d]{1,8}){0,5}$/i;
/** No dash at its end: with the end of the tag it could become an arrow, which starts a cue. */
const CLASS = /^[\w-]{0,40}\w$/;
/** SubRip files contain positions as `{\an8}`. */
const OVERRIDE = /\{\\[^{}\n]*\}/g;

/** Text between allowed tags is kept; other tags are removed, and what is left open is closed. */
export function sanitizeCueText(text: string): string {
  const source = text.replace(OVERRIDE, '');
  const open: string[] = [];
  const parts: string[] = [];
  let end = 0;
  for (const { 0: tag, index } of source.matchAll(TAG)) {
    parts.push(escapeText(source.slice(end, index)), ...toTags(tag, open));
    end = index + tag.length;
  }
  parts.push(escapeText(source.slice(end)), ...closeTags(open, 0));
  return parts.join('');
}

/** The tags to write for one that was read; updates the names of the open ones. */
function toTags(tag: string, open: string[]): string[] {
  if (TIMESTAMP.test(tag)) return [tag];
  const ended = END.exec(tag)?.[1];
  if (ended !== undefined) {
    const place = open.lastIndexOf(ended.toLowerCase());
    return place < 0 ? [] : closeTags(open, place);
  }
  const [, written = '', classes = '', annotation = ''] = START.exec(tag) ?? [];
  const name = written.toLowerCase();
  if (!TAGS.includes(name) || open.length >= MAX_DEPTH) return [];
  if (name === 'rt' && open.at(-1) !== 'ruby') return [];
  if (name === 'lang' && !LANGUAGE.test(annotation.trim())) return [];
  open.push(name);
  return [`<${name}${toClasses(classes)}${toAnnotation(name, annotation)}>`];
}

const closeTags = (open: string[], from: number): string[] =>
  open
    .splice(from)
    .reverse()
    .map((name) => `</${name}>`);

const toClasses = (classes: string): string =>
  classes
    .split('.')
    .filter((name) => CLASS.test(name))
    .slice(0, MAX_CLASSES)
    .map((name) => `.${name}`)
    .join('');

/** Only the speaker and the language have one. */
function toAnnotation(name: string, annotation: string): string {
  const words = annotation.replace(/\s+/g, ' ').trim().slice(0, MAX_ANNOTATION).toWellFormed();
  const text = words.replace(/[\s-]+$/, '');
  return text !== '' && (name === 'v' || name === 'lang') ? ` ${escapeText(text)}` : '';
}

/** Character references stay as they are: they are text for every parser. */
const escapeText = (text: string): string =>
  text
    .replace(/&(?!(?:[a-z][a-z\d]{1,31}|#\d{1,7}|#x[\da-f]{1,6});)/gi, '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
