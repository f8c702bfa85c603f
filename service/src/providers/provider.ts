// The port behind which somebody streams videos: our own encoder, an operator's, or a hosted product (design §5).
import type { ProviderFailureCode } from '@mediary/contract/failures';
import type { UploadTarget } from '@mediary/contract/schemas/uploads';
import type { Asset, AssetRef, Failure, ProviderName } from '../assets/asset.ts';
import type { PlayUrls } from '../assets/playback-manifest.ts';
import type { Reason, StreamReport } from '../lifecycle/stream-report.ts';
import type { HeaderValues } from '../auth/signature.ts';
import type { StartJob } from '../jobs.ts';

export type { ProviderFailureCode, UploadTarget };

/** A webhook as it came: nothing parsed, nothing inflated. */
export type WebhookRequest = {
  readonly headers: HeaderValues;
  readonly body: Uint8Array;
  readonly now: Date;
};

/** What a body says: a report on a video, or nothing that can be acted on. `isOurs`: our own encoder signed it. */
export type ParsedWebhook =
  | { readonly report: StreamReport; readonly ref: AssetRef; readonly isOurs?: boolean }
  | { readonly reason: Extract<Reason, 'not_actionable' | 'wrong_library'> };

/** The message of the 401. */
export type RejectedWebhook = {
  readonly rejected: 'not configured' | 'Invalid webhook signature' | 'Invalid webhook payload';
};

export type Provider = {
  readonly name: ProviderName;
  /** `hosted`: has the bytes and streams them itself. `encoder`: works on bytes in our store. */
  readonly kind: 'hosted' | 'encoder';
  readonly capabilities: Capabilities;
  /** Configured? Signature? JSON? Then what it says. */
  open(incoming: WebhookRequest): ParsedWebhook | RejectedWebhook;
  /** What a body says that was verified before, and by whose secret. */
  read(body: Uint8Array, signer: { readonly isOurs: boolean }): ParsedWebhook;
  /** The job that goes on once the bytes are there; undefined where the provider starts by itself. */
  startJob(asset: Asset): StartJob | undefined;
  /** The hosted product's own interface; undefined where there is none, or its settings are missing. */
  readonly api: HostedApi | undefined;
  /** The stored addresses of a video such as players can use until `expires`, or as long before as the product signs for; undefined where they need no signature. */
  sign(video: SignedVideo): SignedUrls | undefined;
};

/** By name, in the order of the registry. */
export type Providers = ReadonlyMap<ProviderName, Provider>;

/** The provider of an asset; a stored name that is not registered any more is an error of the set-up. */
export function getProvider(providers: Providers, name: ProviderName): Provider {
  const provider = providers.get(name);
  if (!provider) throw new Error(`provider "${name}" is not registered`);
  return provider;
}

/** What an operator is told of a provider (GET /admin/providers). */
export type Capabilities = {
  /** Whether webhooks can be verified. */
  readonly webhooks: boolean;
  /** Whether new videos can be sent to it. */
  readonly uploads: boolean;
  /** Whether it can be asked what became of a video. */
  readonly inspection: boolean;
  readonly signedPlayback: boolean;
  readonly dash: boolean;
  /** Names of the settings that are missing for what is false above, and for playing at all. */
  readonly missingSettings: readonly string[];
};

export type SignedVideo = {
  readonly videoId: string;
  readonly urls: PlayUrls;
  readonly isPrivate: boolean;
  readonly expires: number;
};
/** `expires`: seconds since 1970. */
export type SignedUrls = PlayUrls & { readonly expires: number };

/** Every call is HTTP with a deadline, is made outside any transaction, and throws ProviderFailed. */
export type HostedApi = {
  /** Where it is reached. */
  readonly url: string;
  /** Makes an empty video, or takes up the one that an earlier try made, and says how its bytes go straight to the provider. */
  prepareUpload(wish: UploadOrder): Promise<PreparedUpload>;
  inspect(videoId: string): Promise<Inspection>;
  /** One that is gone already is removed. */
  remove(videoId: string): Promise<void>;
  /** Encodes the bytes that are there once more; undefined where the product cannot. */
  readonly restart: ((videoId: string) => Promise<void>) | undefined;
  /** Has the product demand signed addresses of a video, or not; undefined where that is not a matter of single videos. */
  readonly protect: ((videoId: string, isPrivate: boolean) => Promise<void>) | undefined;
  /** Where the file can be had; undefined where the product offers none of this video. */
  download(wish: {
    readonly videoId: string;
    readonly filename: string;
    readonly expires: number;
  }): Promise<string | undefined>;
  /** The videos that this service made there, newest first. */
  list(): AsyncIterable<ListedVideo>;
  /** Tries the credentials; what is wrong, in words for the operator. */
  check(): Promise<readonly string[]>;
  /** Has the product send its webhooks to this address; undefined where that is done by hand. */
  readonly registerWebhook: ((notificationUrl: string) => Promise<RegisteredWebhook>) | undefined;
};

/** What signs them from now on, and the name of the setting that it belongs into. */
export type RegisteredWebhook = { readonly secret: string; readonly setting: string };

/** `expires`: seconds since 1970. `size` in bytes, where it was announced. `videoId`: of an earlier try. */
export type UploadOrder = {
  readonly assetId: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly size: number | null;
  readonly maxBytes: number;
  readonly isPrivate: boolean;
  readonly expires: number;
  readonly videoId: string | null;
};

export type PreparedUpload = {
  readonly videoId: string;
  readonly target: UploadTarget;
  readonly alternatives?: readonly UploadTarget[];
};

/** `missing`: the provider has no such video. `waiting`: it has it, without bytes. */
export type Inspection =
  | { readonly state: 'missing' | 'waiting' }
  | { readonly state: 'known'; readonly report: StreamReport };

/** `assetId`: as it was noted at the provider when the video was made; undefined for videos that are not ours. */
export type ListedVideo = {
  readonly videoId: string;
  readonly assetId: string | undefined;
  readonly createdAt: Date;
  /** What the listing says of it. */
  inspection(): Inspection;
};

/** Codes that every provider's errors are told in. */
export const PROVIDER_FAILURES = {
  provider_unreachable: { message: 'The video host cannot be reached', retryable: true },
  provider_timeout: { message: 'The video host did not answer in time', retryable: true },
  provider_rate_limited: { message: 'The video host takes no more requests for now', retryable: true },
  provider_error: { message: 'The video host has trouble of its own', retryable: true },
  provider_credentials: {
    message: 'The video host does not accept the credentials of this service',
    retryable: false,
  },
  provider_rejected: { message: 'The video host does not accept this request', retryable: false },
  provider_video_missing: { message: 'The video host does not have this video', retryable: false },
} as const satisfies Record<ProviderFailureCode, Omit<Failure, 'code'>>;

/** A call to a provider that did not do what it should; `providerCode` is its own word, for operators. */
export class ProviderFailed extends Error {
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
    super(`${PROVIDER_FAILURES[code].message}${providerCode === undefined ? '' : ` (${providerCode})`}`, {
      cause,
    });
    this.failure = { code, ...PROVIDER_FAILURES[code] };
    this.providerCode = providerCode;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
