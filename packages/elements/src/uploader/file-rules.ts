// Refuses files before a byte is sent: by the attributes of the element, and by the limits that the service
// named when it refused an earlier file.
import { findMimeType, isMediaryError, type Media } from '@mediary/client';
import type { MediaKind, UploaderTexts } from './texts.ts';

export type FileRules = {
  /** As of `<input accept>`. */
  readonly accept: string;
  readonly maxBytes: number | undefined;
  /** What the service allows; undefined until it has said so. */
  allowedTypes: readonly string[] | undefined;
  maxServiceBytes: number | undefined;
};

/** Documents with scripts: the service refuses them always. */
const NEVER = new Set(['image/svg+xml']);

/** The reason for people why `file` cannot be uploaded; undefined if it can be. */
export function findRefusal(file: File, rules: FileRules, texts: UploaderTexts): string | undefined {
  if (file.size === 0) return texts.emptyFile(file.name);
  const type = typeOf(file);
  if (!isAccepted(file, type, rules)) {
    const { kinds, types } = describeTypes(rules);
    return texts.wrongType(file.name, kinds, types);
  }
  const limit = Math.min(rules.maxBytes ?? Infinity, rules.maxServiceBytes ?? Infinity);
  return file.size > limit ? texts.tooLarge(file.name, limit) : undefined;
}

/** The name decides where the browser does not know the type. */
export const typeOf = (file: File): string => (file.type || findMimeType(file.name) || '').toLowerCase();

/** Their decision depends on no setting of the service. */
const BROKEN = new Set<string>([
  'type_mismatch',
  'playlist',
  'not_media',
  'no_video_track',
  'no_audio_track',
  'truncated',
]);

/**
 * The reason for people why the service would refuse the bytes of `file`; undefined where it would not, or
 * where the page cannot tell: the service checks them itself.
 */
export async function findDefect(
  file: File,
  { inspect }: Pick<Media, 'inspect'>,
  { texts, signal }: { readonly texts: UploaderTexts; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const found = await inspect(file, { mimeType: typeOf(file), signal }).catch(() => undefined);
  const refusal = found?.refusals.find(({ code }) => BROKEN.has(code));
  return refusal && (texts.problems[refusal.code] ?? refusal.message);
}

function isAccepted(file: File, type: string, { accept, allowedTypes }: FileRules): boolean {
  if (type === '' || NEVER.has(type)) return false;
  if (allowedTypes && !allowedTypes.includes(type)) return false;
  const names = parseAccept(accept);
  return names.length === 0 || names.some((name) => matches(name, file.name.toLowerCase(), type));
}

const parseAccept = (accept: string): string[] =>
  accept
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');

function matches(accepted: string, filename: string, type: string): boolean {
  if (accepted.startsWith('.')) return filename.endsWith(accepted);
  return accepted.endsWith('/*') ? type.startsWith(accepted.slice(0, -1)) : type === accepted;
}

const KINDS: readonly MediaKind[] = ['image', 'video', 'audio'];

/** Kinds with at least one type in `accept`; all kinds if `accept` is empty. */
export function findAcceptedKinds(accept: string): readonly MediaKind[] {
  const types = parseAccept(accept).map(toType);
  return types.length === 0
    ? KINDS
    : KINDS.filter((kind) => types.some((type) => type.startsWith(`${kind}/`)));
}

/** The type of an extension too; empty where it is unknown. */
const toType = (accepted: string): string =>
  accepted.startsWith('.') ? (findMimeType(`file${accepted}`) ?? '') : accepted;

type AllowedTypes = { readonly kinds: readonly MediaKind[]; readonly types: readonly string[] };

/** Kinds that are allowed as a whole, and further types as `PNG` or `MP4`. */
function describeTypes({ accept, allowedTypes }: FileRules): AllowedTypes {
  const accepted = parseAccept(accept);
  const isNarrow = accepted.length > 0;
  const names =
    allowedTypes?.filter(
      (type) => !isNarrow || accepted.some((name) => matches(name, '', type) || toType(name) === type),
    ) ?? accepted;
  if (!allowedTypes && !isNarrow) return { kinds: KINDS, types: [] };
  const kinds = KINDS.filter((kind) => names.includes(`${kind}/*`));
  const others = names.filter((name) => !kinds.some((kind) => toType(name).startsWith(`${kind}/`)));
  return { kinds, types: others.map(formatType) };
}

const formatType = (name: string): string =>
  name.replace(/^(?:\.|(?:image|video|audio)\/(?:x-)?)/, '').toUpperCase();

/** Remembers the limit that a refusal of the service names, so that later files need no request. */
export function learnLimits(rules: FileRules, error: unknown): void {
  if (!isMediaryError(error) || (error.status !== 400 && error.status !== 413)) return;
  if (error.reason === 'quota_exceeded') return;
  const { field, allowed, limit } = error.details ?? {};
  if (field === 'mime_type' && Array.isArray(allowed) && allowed.every(isMimeType))
    rules.allowedTypes = allowed;
  if (field === 'size_bytes' && typeof limit === 'number') rules.maxServiceBytes = limit;
}

/** An upload token may name kinds instead. */
const isMimeType = (value: unknown): value is string => typeof value === 'string' && value.includes('/');
