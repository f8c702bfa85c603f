// An asset: its row in the database with types for each column.
import type { RowOf } from '../platform/postgres/row.ts';
import type { fileColumns } from './file-columns.ts';
import type { assetRow, newAssetColumns, playedColumns, shownColumns } from '../tables.ts';
import type { Manifest } from './playback-manifest.ts';
import type { Rendition } from './renditions.ts';
import type { AssetKind, CaptionKind, StreamStatus, Visibility } from '@mediary/contract/enums';
import type { AssetMedia } from '@mediary/contract/schemas/assets/asset-media';
import type { Chapter } from '@mediary/contract/schemas/assets/chapters';
import type { ClipSource } from '@mediary/contract/schemas/assets/clip-source';
import type { AccessRules } from '@mediary/contract/schemas/assets/access-rules';
import type { FocalPoint } from '@mediary/contract/schemas/common';

/** A name in the registry of providers. */
export type ProviderName = string;

/** A problem that does not stop playback. */
export type Warning = { readonly code: string; readonly message: string };
/** Why an asset failed. `retryable`: another attempt may succeed. */
export type Failure = { readonly code: string; readonly message: string; readonly retryable: boolean };

/** A stored WebVTT file; an asset has one for each language. */
export type Caption = {
  /** BCP 47, in its canonical form. */
  readonly language: string;
  readonly label: string;
  readonly kind: CaptionKind;
  /** True for at most one track. */
  readonly isDefault: boolean;
  /** Extracted from the video; captions of callers replace them. */
  readonly isEmbedded: boolean;
  /** Names the object; every upload has its own. */
  readonly fileId: string;
  readonly sizeBytes: number;
  /** Where the last cue ends. */
  readonly endMs: number;
  /** ISO 8601. */
  readonly updatedAt: string;
};

type ColumnTypes = {
  kind: AssetKind;
  visibility: Visibility;
  provider: ProviderName | null;
  stream_status: StreamStatus;
  renditions: readonly Rendition[];
  warnings: readonly Warning[];
  failure: Failure | null;
  playback: Manifest | null;
  captions: readonly Caption[] | null;
  media: AssetMedia | null;
  clip_of: ClipSource | null;
  metadata: Readonly<Record<string, unknown>> | null;
  focal_point: FocalPoint | null;
  access: Readonly<AccessRules> | null;
  chapters: Chapter[] | null;
  previous_version: PreviousVersion | null;
};

export type Asset = Readonly<Omit<RowOf<typeof assetRow>, keyof ColumnTypes> & ColumnTypes>;

export type NewAsset = Pick<Asset, keyof typeof newAssetColumns>;

/** The columns that callers see. */
export type ShownAsset = Pick<Asset, keyof typeof shownColumns>;

/** The columns that players need. */
export type PlaybackAsset = Pick<Asset, keyof typeof playedColumns>;

/** What an asset knows of its file. A replacement hands it over, and a rollback brings it back. */
export type AssetFile = Pick<Asset, keyof typeof fileColumns>;

/** The file that was replaced last. Times are ISO 8601. */
export type PreviousVersion = {
  readonly replaced_at: string;
  /** Until when a rollback can bring the file back. */
  readonly restorable_until: string;
  readonly file: { readonly [C in keyof AssetFile]: Stored<AssetFile[C]> };
};

/** A value of a column inside JSON. */
type Stored<T> = T extends Date ? string : T;

/** Deleted, and not restorable. */
export const isPurged = ({ deleted_at, purge_at }: Pick<Asset, 'deleted_at' | 'purge_at'>): boolean =>
  deleted_at !== null && purge_at === null;

/** How a report identifies its asset: by our id, or by the provider's. */
export type AssetRef = { readonly assetId: string } | VideoRef;
export type VideoRef = { readonly provider: ProviderName; readonly providerVideoId: string };
