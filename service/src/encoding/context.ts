// What the functions of encoding need.
import type { Captions } from '../captions/feature.ts';
import type { Config } from '../config.ts';
import type { ServiceJobs } from '../jobs.ts';
import type { ShownAsset } from '../assets/asset.ts';
import type { Lifecycle } from '../lifecycle/feature.ts';
import type { AsOperator } from '../platform/http/route.ts';

import type { Logger } from '../platform/observability/logger.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { ScratchReservations } from '../platform/process/scratch-reservations.ts';
import type { LocalFile } from '../storage/local-file.ts';
import type { Storage } from '../storage/feature.ts';
import type { ObjectKey } from '../storage/object-key.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { Encoder } from './encoder.ts';
import type { Callback } from './encoder-report.ts';

/** The caller must release it once. `file` is undefined when the original is no longer stored. */
type SharedOriginal = { readonly file: LocalFile | undefined; readonly release: () => void };

export type SharedOriginals = {
  open(key: ObjectKey, signal: AbortSignal): Promise<SharedOriginal>;
};

export type EncodingContext = {
  readonly settings: Pick<Config, 'encodeChunkSeconds' | 'ladder' | 'minFreeBytes' | 'videoExtras'>;
  readonly db: Database;
  readonly store: ObjectStore;
  readonly jobs: ServiceJobs;
  readonly encoder: Encoder;
  readonly callback: Callback;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly now: () => Date;
  /** This process, and its disk for temporary files. */
  readonly worker: {
    /** Shown to operators. */
    readonly name: string;
    readonly scratchRoot: string;
    readonly scratchReservations: ScratchReservations;
    readonly findLocalFile: Storage['findLocalFile'];
    /** Created by feature.ts, because all jobs of this process share the copies. */
    readonly originals: SharedOriginals;
  };
  readonly lifecycle: Lifecycle;
  readonly captions: Captions;
  readonly asOperator: AsOperator;
};

/** What expected times need. */
export type TimesContext = Pick<EncodingContext, 'db' | 'jobs' | 'now'> & {
  readonly settings: Pick<Config, 'ladder'>;
  readonly log: Pick<Logger, 'warn'>;
  /** True when a worker of this service encodes the videos of the provider. */
  readonly isEncodedHere: (asset: Pick<ShownAsset, 'provider'>) => boolean;
  readonly isHosted: (asset: Pick<ShownAsset, 'provider'>) => boolean;
};
