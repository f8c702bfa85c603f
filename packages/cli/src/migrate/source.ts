// What a migration reads from a source: items, their files and their captions.
import type { CaptionUpload, Chapter, Visibility } from '@mediary/client';

export const SOURCE_NAMES = ['cdnhost', 'edgehost', 'mux', 'bucket', 'folder'] as const;
export type SourceName = (typeof SOURCE_NAMES)[number];

/** What a source says about an item. */
export type ItemFacts = {
  /** Unique in the source. */
  readonly id: string;
  readonly title: string | null;
  /** Creator or collection, by which an operator tells apart the owners of items. */
  readonly group: string | null;
  readonly createdAt: string | null;
  readonly durationMs: number | null;
  /** As the source counts it, for totals. */
  readonly sizeBytes: number | null;
  /** Of the file that is moved, where the source knows them. */
  readonly fileSizeBytes: number | null;
  readonly fileSha256: string | null;
  /** Of a file that the service can adopt in place. */
  readonly storageUrl: string | null;
  readonly visibility: Visibility;
  readonly tags: readonly string[];
  /** Own members of the operator. */
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly chapters: readonly Chapter[];
  /** Sites whose pages may play it. Empty: all. */
  readonly sites: readonly string[];
  readonly expiresAt: string | null;
  /** Why it cannot be moved. */
  readonly problem: string | null;
  /** What the asset will not have. */
  readonly notes: readonly string[];
};

export const NO_FACTS: Omit<ItemFacts, 'id'> = {
  title: null,
  group: null,
  createdAt: null,
  durationMs: null,
  sizeBytes: null,
  fileSizeBytes: null,
  fileSha256: null,
  storageUrl: null,
  visibility: 'private',
  tags: [],
  metadata: {},
  chapters: [],
  sites: [],
  expiresAt: null,
  problem: null,
  notes: [],
};

export type SourceFile = { readonly url: string; readonly filename: string; readonly mimeType: string };

export type SourceCaption = {
  readonly language: string;
  readonly label: string | undefined;
  readonly kind: CaptionUpload['kind'];
  /** WebVTT or SubRip. */
  readonly read: () => Promise<string>;
};

export type SourceItem = ItemFacts & {
  /** A URL that anybody can read for some hours. Waits where the source has to make the file. */
  readonly openFile: () => Promise<SourceFile>;
  readonly listCaptions: () => Promise<readonly SourceCaption[]>;
};

export type MigrationSource = {
  readonly name: SourceName;
  /** For people, such as `library 4242`. */
  readonly label: string;
  readonly listItems: () => AsyncIterable<SourceItem>;
};

/** How long the URL of a file is valid: what an import may take by default. */
export const FILE_URL_TTL_S = 6 * 3600;

export const secondsToMs = (seconds: number | null | undefined): number | null =>
  typeof seconds === 'number' && seconds > 0 ? Math.round(seconds * 1000) : null;

/** BCP 47 in its canonical form; undefined for other text, such as `en-auto-generated`. */
export function toLanguage(tag: string): string | undefined {
  if (!/^[a-z]{2,3}(?:-[a-z\d]{2,8})*$/i.test(tag)) return undefined;
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return undefined;
  }
}
