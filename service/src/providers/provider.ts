// Port of video providers: our own encoder, an operator's encoder, or a hosted product.
import type { DeliveryReason } from '@mediary/contract/enums';
import { FAILURE_CODES, type ProviderFailureCode } from '@mediary/contract/failures';
import type { UploadTarget } from '@mediary/contract/schemas/upload-targets';
import type { Asset, AssetRef, Failure, ProviderName } from '../assets/asset.ts';
import type { HostedPlayback } from '../assets/asset-view.ts';
import type { HostedManifest, PlayUrls } from '../assets/playback-manifest.ts';
import type { StreamReport } from '../lifecycle/decisions/stream-report.ts';
import type { HeaderValues } from '../auth/signature.ts';
import type { JobRequest } from '../jobs.ts';
import type { EncoderApi } from './encoder-api.ts';

/** A webhook request before any parsing or decompression. */
export type WebhookRequest = {
  readonly headers: HeaderValues;
  readonly body: Uint8Array;
  readonly now: Date;
};

/** A report on a video, or a body that requires no action. `isOwnEncoder`: signed by our own encoder. */
export type ParsedWebhook =
  | { readonly report: StreamReport; readonly ref: AssetRef; readonly isOwnEncoder?: boolean }
  | { readonly reason: Extract<DeliveryReason, 'not_actionable' | 'wrong_library'> };

/** Message of the 401. */
export type RejectedWebhook = {
  readonly rejected: 'not configured' | 'Invalid webhook signature' | 'Invalid webhook payload';
};

export type Provider = {
  readonly name: ProviderName;
  /** `hosted`: stores and streams the bytes itself. `encoder`: works on bytes in our store. */
  readonly kind: 'hosted' | 'encoder';
  readonly capabilities: Capabilities;
  /** Verifies configuration, signature and JSON, then parses the body. */
  verify(request: WebhookRequest): ParsedWebhook | RejectedWebhook;
  /** Parses a body that was verified earlier. */
  parse(body: Uint8Array, signer: { readonly isOwnEncoder: boolean }): ParsedWebhook;
  /** The job to start after the upload; undefined when the provider starts by itself. */
  startJob(asset: Asset): JobRequest | undefined;
  /** The operator's own encoder; undefined when our workers encode. */
  readonly encoder?: EncoderApi | undefined;
  /** The API of a hosted product; undefined when it has none or is not configured. */
  readonly api: HostedApi | undefined;
  /** The URLs of a video with the current settings, unsigned; undefined for encoders. */
  readonly playback: ((video: HostedManifest) => HostedPlayback) | undefined;
  /**
   * Playback URLs that are valid until `expires`, or as long as the product allows; undefined when they need
   * no signature.
   */
  sign(video: SignedVideo): SignedUrls | undefined;
};

/** Providers by name, in the order of the registry. */
export type Providers = ReadonlyMap<ProviderName, Provider>;

/** The provider of an asset. Throws when the stored name is no longer registered. */
export function getProvider(providers: Providers, name: ProviderName): Provider {
  const provider = providers.get(name);
  if (!provider) throw new Error(`provider "${name}" is not registered`);
  return provider;
}

/** Status of a provider for operators (GET /admin/providers). */
type Capabilities = {
  /** True when webhooks can be verified. */
  readonly webhooks: boolean;
  /** True when new videos can be created. */
  readonly uploads: boolean;
  /** True when the state of a video can be requested. */
  readonly inspection: boolean;
  readonly signedPlayback: boolean;
  readonly dash: boolean;
  /** Names of the settings that are missing for the members above and for playback. */
  readonly missingSettings: readonly string[];
};

export type SignedVideo = {
  readonly videoId: string;
  readonly urls: PlayUrls;
  readonly isPrivate: boolean;
  readonly expires: number;
};
/** `expires` is in seconds since 1970. */
export type SignedUrls = PlayUrls & { readonly expires: number };

/**
 * Every method calls the provider with a timeout, must be called outside of transactions, and throws
 * ProviderError.
 */
export type HostedApi = {
  /** Base URL. */
  readonly url: string;
  /** Undefined when `MAX_UPLOAD_BYTES` alone limits uploads. */
  readonly uploadRules: UploadRules | undefined;
  /**
   * Creates an empty video, or reuses the one of an earlier attempt, and returns the upload URL at the
   * provider.
   */
  prepareUpload(order: UploadOrder): Promise<PreparedUpload>;
  /** Undefined when a target of `prepareUpload` takes files of every size without their length. */
  readonly tusRelay: TusRelay | undefined;
  inspect(videoId: string): Promise<Inspection>;
  /** Succeeds when the video does not exist. */
  remove(videoId: string): Promise<void>;
  /** Encodes the stored bytes again; undefined when the product does not support it. */
  readonly restart: ((videoId: string) => Promise<void>) | undefined;
  /**
   * Enables or disables signed URLs for a video; undefined when the product does not support it per video.
   * The process needs no key for it.
   */
  readonly protect: ((videoId: string, isPrivate: boolean) => Promise<void>) | undefined;
  /** Requests a file that does not exist yet; undefined when the product offers none for this video. */
  createDownloadUrl(download: DownloadOrder): Promise<ProviderDownload | undefined>;
  /** Lists the videos of this service, newest first. */
  list(): AsyncIterable<ListedVideo>;
  /** Checks each setting with the provider's API and its delivery host, without changing anything. */
  check(target: CheckTarget): Promise<readonly SettingFinding[]>;
  /** Registers the webhook URL at the product; undefined when operators must do it manually. */
  readonly registerWebhook: ((notificationUrl: string) => Promise<RegisteredWebhook>) | undefined;
};

/** tus uploads that only the service can create, once their length is known. */
export type TusRelay = {
  readonly chunks: Pick<
    Extract<UploadTarget, { readonly protocol: 'tus' }>,
    'chunk_size_bytes' | 'chunk_size_multiple_bytes' | 'chunk_size_min_bytes' | 'chunk_size_max_bytes'
  >;
  /** Creates a video of its own for every call. */
  create(order: UploadOrder & { readonly size: number }): Promise<PreparedUpload>;
};

/** What a product accepts. */
export type UploadRules = { readonly maxDurationSeconds: number };

/** `retryAfterSeconds`: when to ask for the prepared file again. */
export type ProviderDownload =
  | { readonly state: 'ready'; readonly url: string }
  | { readonly state: 'preparing'; readonly retryAfterSeconds: number };

/** `webhookUrl` is undefined without PUBLIC_BASE_URL. */
export type CheckTarget = { readonly webhookUrl: string | undefined };

/** The result for one setting; `detail` is for operators. */
export type SettingFinding = {
  readonly setting: string;
  readonly result: 'ok' | 'problem' | 'not checked';
  readonly detail: string;
};

/** `expires` is in seconds since 1970. */
export type DownloadOrder = {
  readonly videoId: string;
  readonly filename: string;
  readonly expires: number;
};

/** The new signing secret, and the name of its setting. */
type RegisteredWebhook = { readonly secret: string; readonly setting: string };

/**
 * `expires` is in seconds since 1970. `size` is in bytes, if announced. `videoId` belongs to an earlier
 * attempt.
 */
export type UploadOrder = {
  readonly assetId: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly size: number | null;
  readonly maxBytes: number;
  /** The longest video that the caller announced, in seconds. */
  readonly maxDurationSeconds: number | null;
  readonly isPrivate: boolean;
  readonly expires: number;
  readonly videoId: string | null;
};

export type PreparedUpload = {
  readonly videoId: string;
  readonly target: UploadTarget;
  readonly alternatives?: readonly UploadTarget[];
};

/** `missing`: the provider has no such video. `waiting`: the video exists without bytes. */
export type Inspection =
  | { readonly state: 'missing' | 'waiting' }
  | { readonly state: 'known'; readonly report: StreamReport };

/** `assetId` was stored at the provider when the video was created; undefined for videos of other origin. */
export type ListedVideo = {
  readonly videoId: string;
  readonly assetId: string | undefined;
  readonly createdAt: Date;
  /** The state according to the listing. */
  inspection(): Inspection;
};

/** Failures that another call may overcome. */
const RETRYABLE: readonly ProviderFailureCode[] = [
  'provider_unreachable',
  'provider_timeout',
  'provider_rate_limited',
  'provider_quota',
  'provider_error',
];

/** A failed call to a provider. `providerCode` is the provider's own code, for operators. */
export class ProviderError extends Error {
  readonly failure: Failure & { readonly code: ProviderFailureCode };
  readonly providerCode: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ProviderFailureCode,
    {
      providerCode,
      retryAfterSeconds,
      cause,
    }: { providerCode?: string | undefined; retryAfterSeconds?: number | undefined; cause?: unknown } = {},
  ) {
    super(describe(code, providerCode), {
      cause,
    });
    this.failure = { code, message: FAILURE_CODES[code], retryable: RETRYABLE.includes(code) };
    this.providerCode = providerCode;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

const describe = (code: ProviderFailureCode, providerCode: string | undefined): string =>
  providerCode === undefined
    ? FAILURE_CODES[code]
    : `${FAILURE_CODES[code].replace(/\.$/, '')} (${providerCode})`;
