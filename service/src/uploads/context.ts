// What the functions of uploads need.
import type { Auth } from '../auth/feature.ts';
import type { Secret } from '../auth/secret.ts';
import type { Config } from '../config.ts';
import type { Encoder } from '../encoding/encoder.ts';
import type { ServiceJobs } from '../jobs.ts';
import type { Lifecycle } from '../lifecycle/feature.ts';
import type { MediaType } from '@mediary/media-rules/media-type';
import type { AudioProbe, Probe } from '../media/probe.ts';
import type { ConcurrencyLimit } from '../platform/concurrency/concurrency-limit.ts';
import type { InFlight } from '../platform/concurrency/in-flight.ts';
import type { SpaceGuard } from '../platform/disk/free-space.ts';
import type { Logger } from '../platform/observability/logger.ts';
import type { OutboundFetch } from '../platform/outbound/guarded-fetch.ts';
import type { sendBody } from '../platform/outbound/send-body.ts';
import type { Clocks } from '../platform/postgres/database-clock.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { AcquireSlot } from '../platform/process/fair-slots.ts';
import type { ScratchReservations } from '../platform/process/scratch-reservations.ts';
import type { ProviderOperations } from '../providers/feature.ts';
import type { Storage } from '../storage/feature.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { Usage } from '../usage/feature.ts';
import type { LeasedUpload } from './original/leased-uploads.ts';
import type { RunningChecksums } from './original/running-checksum.ts';
import type { ClaimPut } from './original/store-original.ts';
import type { NewAssetRules } from './upload-request.ts';

export type UploadsContext = {
  readonly settings: Pick<
    Config,
    | 'maxUploadBytes'
    | 'uploadTtlSeconds'
    | 'uploadMaxAgeSeconds'
    | 'multipartUploadBytes'
    | 'resumableUploadBytes'
    | 'importLimits'
    | 'outboundAllowPrivate'
  > & {
    readonly urlSecrets: readonly Secret[];
    readonly publicBaseUrl: () => string;
    /** What callers may ask for when they create an asset. */
    readonly newAssets: NewAssetRules;
  };
  readonly db: Database;
  readonly store: ObjectStore;
  readonly jobs: Pick<ServiceJobs, 'sendFor' | 'listOpenSubjects'>;
  readonly log: Pick<Logger, 'warn'>;
  readonly clocks: Clocks;
  readonly lifecycle: Pick<
    Lifecycle,
    | 'findAssetById'
    | 'findDuplicate'
    | 'findReplacement'
    | 'findReplacementAttempt'
    | 'assetStore'
    | 'update'
    | 'recordCheck'
    | 'completeAsset'
    | 'refuseAsset'
    | 'retryAsset'
    | 'reopenAsset'
  >;
  readonly usage: Pick<Usage, 'underQuota' | 'findByteQuota'>;
  readonly providers: ProviderOperations;
  /** What a request passes before the service takes its bytes. */
  readonly admission: Pick<Auth, 'createUploadToken' | 'recordUploadOfToken' | 'assertReadableByToken'> & {
    /** Throws RATE_LIMITED when the owner sends too many requests. */
    readonly limitOwner: (ownerUserId: string) => Promise<void>;
    /** Throws INSUFFICIENT_STORAGE when the disk of the database is nearly full. */
    readonly requireDatabaseSpace: SpaceGuard;
  };
  /** This process, and its disk for temporary files. */
  readonly worker: Pick<Storage, 'findLocalFile'> & {
    readonly probe: Probe & AudioProbe;
    readonly encoder: Pick<Encoder, 'cut'>;
    readonly scratchRoot: string;
    readonly scratchReservations: ScratchReservations;
  };
  /** Created once for all requests and jobs of this process. */
  readonly intake: Intake;
};

export type Intake = {
  /** Undefined if another PUT of the asset runs, or the asset takes no bytes. */
  readonly claimPut: ClaimPut;
  /** The leased uploads of this process, by id. */
  readonly leases: Map<string, LeasedUpload>;
  readonly checksums: RunningChecksums;
  /** For one segment, so that owners take turns while long files are joined. */
  readonly acquireAssembly: AcquireSlot;
  /** Requests that the process finishes before it ends. */
  readonly inFlight: InFlight;
  /** The servers of imports, and hosted providers. */
  readonly outbound: {
    readonly fetchFile: OutboundFetch;
    /** For the request that finds the name and the type of a file. */
    readonly fetchMetadata: OutboundFetch;
    readonly limitMetadataRequests: ConcurrencyLimit;
    readonly sendBody: typeof sendBody;
  };
  readonly mediaTypes: readonly MediaType[];
};
