// The names and the lists of files in the archive of an owner, for its export and its import.
import { isUuid } from '../platform/values/uuid.ts';

export const ARCHIVE_TYPE = 'mediary.owner-export.v1';
export const ABOUT_FILE = 'export.json';
export const MANIFEST_FILE = 'manifest.json';

/** As `sha256sum` writes and verifies it. */
export const toSumLine = ({ path, sha256 }: Readonly<Record<'path' | 'sha256', string>>): string =>
  `${sha256}  ${path}\n`;

export const folderOf = (assetId: string): string => `assets/${assetId}`;

export const collectionPath = (id: string): string => `collections/${id}.json`;

export const isCollectionPath = (name: string): boolean => /^collections\/[0-9a-f-]{36}\.json$/.test(name);

/** Languages are BCP 47 tags: letters, digits and hyphens. */
export const captionPath = (assetId: string, language: string): string =>
  `${folderOf(assetId)}/captions/${language}.vtt`;

/** What an entry of an archive is, told by its name. */
export type ArchivedFile = { readonly assetId: string } & (
  | { readonly kind: 'original' | 'about' | 'sums' | 'events' }
  | { readonly kind: 'captions'; readonly language: string }
);

const FILE = String.raw`(original|asset\.json|SHA256SUMS)`;
const CAPTIONS = String.raw`captions\/([\dA-Za-z-]{2,35})\.vtt`;
const EVENTS = String.raw`events-[1-9]\d{0,5}\.ndjson`;
const NAME = RegExp(`^assets\\/([0-9a-f-]{36})\\/(?:${FILE}|${CAPTIONS}|${EVENTS})$`);
const KINDS = { original: 'original', 'asset.json': 'about', SHA256SUMS: 'sums' } as const;

/** Undefined for every name that an export does not write. */
export function parseFileName(name: string): ArchivedFile | undefined {
  const [, assetId = '', file, language] = NAME.exec(name) ?? [];
  if (!isUuid(assetId)) return undefined;
  if (language !== undefined) return { assetId, kind: 'captions', language };
  return { assetId, kind: file === undefined ? 'events' : KINDS[file as keyof typeof KINDS] };
}
