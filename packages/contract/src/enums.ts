// Enumerations of the API.

export const ASSET_KINDS = ['image', 'video', 'audio'] as const;
export type AssetKind = (typeof ASSET_KINDS)[number];

export const VISIBILITIES = ['private', 'public'] as const;
export type Visibility = (typeof VISIBILITIES)[number];

/** In the order in which an asset passes through them; `failed` and `ready` are final for an attempt. */
export const STREAM_STATUSES = ['pending_upload', 'processing', 'failed', 'ready'] as const;
export type StreamStatus = (typeof STREAM_STATUSES)[number];

/** What a named service key may do; `SERVICE_API_KEY` may do everything. */
export const SERVICE_SCOPES = ['read', 'write', 'webhooks', 'legal_hold'] as const;
export type ServiceScope = (typeof SERVICE_SCOPES)[number];

/** From least to most advanced: when two reports name one rendition, the more advanced state wins. */
export const RENDITION_STATES = ['queued', 'encoding', 'failed', 'ready'] as const;
export type RenditionState = (typeof RENDITION_STATES)[number];

/** Codecs of renditions in addition to H.264. */
export const EXTRA_CODECS = ['av1', 'hevc'] as const;
export type ExtraCodec = (typeof EXTRA_CODECS)[number];

/** Dynamic ranges of renditions beside the standard one (SDR). PQ: SMPTE ST 2084. */
export const HDR_RANGES = ['pq', 'hlg'] as const;
export type HdrRange = (typeof HDR_RANGES)[number];

/** What a request to create an asset does if the owner has one with its `external_id`. */
export const EXISTING_ASSET_RULES = ['fail', 'return'] as const;
export type ExistingAssetRule = (typeof EXISTING_ASSET_RULES)[number];

/** What a request about many assets does with each of them. */
export const BATCH_ACTIONS = ['update', 'trash', 'delete', 'restore'] as const;

/** Where assets go in a collection, unless beside another one. */
export const COLLECTION_ENDS = ['start', 'end'] as const;

/** `all`: each of the tags. `any`: one of them or more. */
export const TAG_MATCHES = ['all', 'any'] as const;

/** Orders of lists of assets; `-` is descending. */
export const SORT_ORDERS = [
  'created_at',
  '-created_at',
  'updated_at',
  '-updated_at',
  'title',
  '-title',
  'size_bytes',
  '-size_bytes',
  'duration_ms',
  '-duration_ms',
] as const;
export type SortOrder = (typeof SORT_ORDERS)[number];

/** `hosted`: stores and streams the bytes itself. `encoder`: reads them from the service's object store. */
export const PROVIDER_KINDS = ['hosted', 'encoder'] as const;

/** The origin of a timeline entry. */
export const EVENT_SOURCES = [
  'caller',
  'webhook',
  'inspect',
  'replay',
  'reconcile',
  'service',
  'operator',
] as const;
export type EventSource = (typeof EVENT_SOURCES)[number];

/** The events that subscribers receive. */
export const PUBLISHED_EVENT_TYPES = [
  'asset.created',
  'asset.uploaded',
  'asset.processing',
  'asset.playable',
  'asset.progress',
  'asset.delayed',
  'asset.ready',
  'asset.failed',
  'asset.updated',
  'asset.deleted',
  'asset.restored',
  'asset.replaced',
] as const;
export type PublishedEventType = (typeof PUBLISHED_EVENT_TYPES)[number];

/** Why an asset is ready later than it was expected. */
export const DELAY_REASONS = {
  waiting_for_slot: 'The encode still waits for a free slot, because others run or wait before it.',
  encoding_slow: 'The encode runs, but it is slower than estimated.',
  encode_restarted: 'A worker ended during the encode, which had to start again.',
  disk_full: 'The encode waits, because the disk of the worker has too little space for it.',
  no_worker: 'The encode waits, because no worker of the service is running.',
  provider_slow: 'The video provider is still processing the video.',
  provider_unavailable: "The video provider's API does not respond.",
} as const satisfies Record<string, string>;
export type DelayReason = keyof typeof DELAY_REASONS;

/** `asset.checked` appears in the timeline only. */
export const EVENT_TYPES = [...PUBLISHED_EVENT_TYPES, 'asset.checked'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** The result of a webhook delivery. */
export const DELIVERY_REASONS = {
  applied: 'The report changed the asset.',
  repeat: 'The asset is already in the state that the report asks for.',
  late: 'The asset has already moved past the state that the report asks for.',
  older_attempt: 'The report belongs to an earlier attempt.',
  not_actionable: 'The report carries a state that changes nothing, or has another shape.',
  unknown_asset: 'No asset has this id.',
  parked: 'No asset is linked to this provider video yet; the report is applied when one is.',
  deleted_asset: 'The asset is deleted.',
  wrong_provider: 'The asset belongs to another provider.',
  wrong_library: 'The report comes from another library than the configured one.',
  refused: 'The service itself failed this attempt; reports cannot change that.',
} as const satisfies Record<string, string>;
export type DeliveryReason = keyof typeof DELIVERY_REASONS;

/** `disabled` by a caller, `paused` by the service: `paused_reason` says why. */
export const ENDPOINT_STATUSES = ['enabled', 'disabled', 'paused'] as const;
export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number];

/** Why the service stopped sending to a webhook endpoint. */
export const ENDPOINT_PAUSE_REASONS = {
  gone: 'The endpoint responded with 410.',
  failing: 'Every delivery failed for `WEBHOOK_ENDPOINT_PAUSE_DAYS`.',
} as const satisfies Record<string, string>;
export type EndpointPauseReason = keyof typeof ENDPOINT_PAUSE_REASONS;

/** `failed`: every retry failed, or the endpoint responded with 410. */
export const ENDPOINT_DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;
export type EndpointDeliveryState = (typeof ENDPOINT_DELIVERY_STATES)[number];

/** `captions` also describe sounds, for viewers who do not hear them. */
export const CAPTION_KINDS = ['subtitles', 'captions'] as const;
export type CaptionKind = (typeof CAPTION_KINDS)[number];

export const IMAGE_FITS = ['inside', 'cover', 'contain'] as const;
/** `fill` distorts the picture, so that it needs a signature or a preset. */
export const SIGNED_IMAGE_FITS = [...IMAGE_FITS, 'fill'] as const;
/** Clockwise, in degrees. */
export const IMAGE_ROTATIONS = [90, 180, 270] as const;

export const IMAGE_FORMATS = ['avif', 'webp', 'jpeg', 'png'] as const;

/**
 * The widths that web frameworks use. Each variant is stored, so their number limits the cost of one image.
 */
export const IMAGE_WIDTHS = [
  16, 20, 24, 32, 48, 64, 96, 128, 160, 256, 320, 384, 480, 512, 640, 750, 768, 828, 960, 1024, 1080, 1200,
  1280, 1440, 1600, 1920, 2048, 2560, 3840,
] as const;

/** Shapes of other fits than `inside`: squares, and link previews. */
export const IMAGE_CROPS = ['1:1', '1200x630'] as const;

/** What a process may be asked to be ready for; each checks what the one before it does, and more. */
export const READINESS_PURPOSES = ['serving', 'uploads', 'jobs'] as const;
export type ReadinessPurpose = (typeof READINESS_PURPOSES)[number];

/** What a replacement can take over from the file that it replaces. */
export const KEPT_PARTS = ['captions', 'chapters', 'focal_point', 'poster'] as const;

/** What a file is to its asset. */
export const VERSION_ROLES = ['next', 'current', 'previous'] as const;

/** Why a CDN has to purge the files of an asset. */
export const PURGE_REASONS = ['deleted', 'made_private', 'access_restricted', 'revoked', 'replaced'] as const;
export type PurgeReason = (typeof PURGE_REASONS)[number];
