// An asset as the service holds it: the row, with the meaning of its columns in types.
import type { RowOf } from '../platform/postgres/row.ts';
import type { assetRow, newAssetColumns, playedColumns, shownColumns } from '../tables.ts';
import type { Manifest } from './playback-manifest.ts';
import type { Rendition } from './renditions.ts';
import type { AssetKind, StreamStatus, Visibility } from '@mediary/contract/enums';

/** Which names there are is known by the registry of providers alone. */
export type ProviderName = string;

/** Something that callers should know and that stops nothing. */
export type Warning = { readonly code: string; readonly message: string };
/** Why there is nothing to play; `retryable` where another attempt could end otherwise. */
export type Failure = { readonly code: string; readonly message: string; readonly retryable: boolean };

type Meaning = {
  kind: AssetKind;
  visibility: Visibility;
  provider: ProviderName | null;
  stream_status: StreamStatus;
  renditions: readonly Rendition[];
  warnings: readonly Warning[];
  failure: Failure | null;
  playback: Manifest | null;
  metadata: Readonly<Record<string, unknown>> | null;
};

export type Asset = Readonly<Omit<RowOf<typeof assetRow>, keyof Meaning> & Meaning>;

export type NewAsset = Pick<Asset, keyof typeof newAssetColumns>;

/** What callers see of one. */
export type ShownAsset = Pick<Asset, keyof typeof shownColumns>;

/** What players need of one. */
export type PlayedAsset = Pick<Asset, keyof typeof playedColumns>;

/** How a report names its asset: our id, or the provider's own. */
export type AssetRef = { readonly assetId: string } | VideoRef;
export type VideoRef = { readonly provider: ProviderName; readonly providerVideoId: string };
