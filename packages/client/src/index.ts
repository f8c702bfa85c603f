// Public names of @mediary/client.
export type { AccessRules } from './api/access-rules.ts';
export type { AssetMedia, MediaAudio, MediaVideo } from './api/asset-media.ts';
export type {
  Asset,
  AssetPage,
  AssetPlayback,
  Chapter,
  DeletedAsset,
  ExpectedRange,
  Failure,
  FocalPoint,
  Rendition,
  Warning,
} from './api/assets.ts';
export type { BatchRequest, BatchResult } from './api/batches.ts';
export type { Caption, CaptionList, DeletedCaptions } from './api/captions.ts';
export type {
  AddCollectionItemsRequest,
  Collection,
  CollectionItem,
  CollectionItemPage,
  CollectionItemsResult,
  CollectionPage,
  CreateCollectionRequest,
  DeletedCollection,
  MoveCollectionItemRequest,
  Playlist,
  PlaylistItem,
  UpdateCollectionRequest,
} from './api/collections.ts';
export type {
  AssetKind,
  CollectionEnd,
  EventOrigin,
  EventType,
  PublishedEventType,
  RenditionState,
  ExistingAssetRule,
  SortOrder,
  StreamStatus,
  Visibility,
} from './api/enums.ts';
export type { ErrorCode, ErrorReason, FailureCode, WarningCode } from './api/errors.ts';
export type {
  AssetCreatedEvent,
  AssetDelayedEvent,
  AssetDeletedEvent,
  AssetEvent,
  AssetFailedEvent,
  AssetPlayableEvent,
  AssetProcessingEvent,
  AssetProgressEvent,
  AssetReadyEvent,
  AssetRestoredEvent,
  AssetUpdatedEvent,
  AssetUploadedEvent,
  EventMessage,
  EventTicket,
} from './api/events.ts';
export type {
  ListAssetsQuery,
  TimelineEntry,
  TimelinePage,
  TimelineQuery,
  UpdateAssetRequest,
  Usage,
} from './api/library.ts';
export type { DownloadUrl, ImagePlayback, PlayableCaption, Playback, VideoPlayback } from './api/playback.ts';
export type { ClipRequest, ImportRequest } from './api/imports.ts';
export type {
  CreateUploadRequest,
  FormUploadTarget,
  MultipartUploadTarget,
  AssetVersion,
  AssetVersionPage,
  OpenUpload,
  PutUploadTarget,
  TusUploadTarget,
  UploadTarget,
} from './api/uploads.ts';
export type {
  CreateEndpointRequest,
  DeletedEndpoint,
  DeliveryAttempt,
  EndpointDelivery,
  EndpointDeliveryPage,
  EndpointTestResult,
  ListEndpointDeliveriesQuery,
  ListEndpointsQuery,
  ResendEventsRequest,
  ResendResult,
  UpdateEndpointRequest,
  WebhookEndpoint,
  WebhookEndpointPage,
  WebhookEndpointWithSecret,
} from './api/webhook-endpoints.ts';
export type { ImageSigningKey } from './api/image-signing.ts';
export type { CreateUploadTokenRequest, UploadToken } from './api/upload-tokens.ts';
export type { CaptionCalls, CaptionPage, CaptionUpload } from './calls/captions.ts';
export type { CollectionCalls, CollectionListQuery, CollectionPlace } from './calls/collections.ts';
export { formatChapters, parseChapters } from './chapters.ts';
export { formatExpectedTimes } from './expected-times.ts';
export { createEndpointClient, type EndpointClient, type EndpointOptions } from './upload/endpoint-client.ts';
export {
  AssetFailedError,
  ConnectionError,
  isMediaryError,
  MediaryError,
  type MediaryErrorCode,
  type MediaryErrorReason,
  TimeoutError,
  UploadError,
} from './errors.ts';
export type { EventStreamOptions, StreamedEvent, UnknownEvent } from './events.ts';
export type {
  FileInspection,
  FileLimits,
  FileRefusal,
  InspectedAudio,
  InspectedVideo,
  InspectOptions,
} from './inspect/inspection.ts';
export type {
  AssetCalls,
  AssetFilters,
  CreateUploadOptions,
  DeleteOptions,
  GetOptions,
  ImportOptions,
  PlaybackOptions,
  UpdateOptions,
} from './media.ts';
export { createMediary, type Media, type Mediary } from './mediary.ts';
export type { PagedList } from './pages.ts';
export type { TokenSource } from './request/credentials.ts';
export type { ApiRequest, CallOptions, MediaryOptions } from './transport.ts';
export { findMimeType } from './upload/media-type.ts';
export type { ResumeStore } from './upload/resume-store.ts';
export type {
  UploadHandle,
  UploadQueue,
  UploadQueueOptions,
  UploadState,
} from './upload/upload-handle.ts';
export type { UploadOptions, UploadProgress } from './upload/upload-options.ts';
export type { UploadTokenCalls } from './calls/upload-tokens.ts';
export type { VersionCalls } from './calls/versions.ts';
export { type VerifyWebhookOptions, verifyWebhook, type WebhookEvent } from './webhooks/verify-webhook.ts';
export type { AwaitedAsset, WaitOptions } from './wait-until-ready.ts';
export type { WebhookEndpoints } from './webhooks/webhook-endpoints.ts';
