// The client: `createMediary`.
import type { Asset } from './api/assets.ts';
import type { EventTicket } from './api/events.ts';
import type { ImageSigningKey } from './api/image-signing.ts';
import type { Usage } from './api/library.ts';
import { type CaptionCalls, createCaptionCalls } from './calls/captions.ts';
import { type EventStreamOptions, followEvents, type StreamedEvent } from './events.ts';
import { type AssetCalls, assetPath, createAssetCalls, ownerOf } from './media.ts';
import {
  type ApiRequest,
  type CallOptions,
  createTransport,
  type MediaryOptions,
  type Transport,
} from './transport.ts';
import { ConnectionError } from './errors.ts';
import type { FileInspection, InspectOptions } from './inspect/inspection.ts';
import { receive, toError } from './response.ts';
import { uploadFile } from './upload/upload.ts';
import {
  createUploadQueue,
  startUpload,
  type UploadHandle,
  type UploadQueue,
  type UploadQueueOptions,
} from './upload/upload-handle.ts';
import type { UploadOptions } from './upload/upload-options.ts';
import { type CollectionCalls, createCollectionCalls } from './calls/collections.ts';
import { createUploadTokenCalls, type UploadTokenCalls } from './calls/upload-tokens.ts';
import { createVersionCalls, type VersionCalls } from './calls/versions.ts';
import { type AwaitedAsset, type WaitOptions, waitUntilReady } from './wait-until-ready.ts';
import { createWebhookEndpoints, type WebhookEndpoints } from './webhooks/webhook-endpoints.ts';

export type Media = AssetCalls & {
  /**
   * Uploads a file: creates the asset, sends the bytes to the service, an object store or a video provider,
   * whichever the service names, continues after interruptions, and completes the upload. The asset is
   * `processing` then; see `waitUntilReady`. In Node, `await openFile(path)` of `@mediary/client/node` is the
   * file.
   *
   * Errors: `UploadError` after the asset was created, with the code and reason of its cause.
   *
   * @example
   * const asset = await mediary.media.upload(input.files[0], {
   *   onProgress: ({ bytesSent, totalBytes }) => (bar.value = bytesSent / totalBytes),
   * });
   */
  upload(file: Blob, options?: UploadOptions): Promise<Asset>;
  /**
   * `upload` with a handle that pauses, resumes and cancels it. Its `progress` has speed and time left.
   *
   * @example
   * const upload = mediary.media.startUpload(file);
   * button.onclick = () => upload.pause();
   * const asset = await upload.done;
   */
  startUpload(file: Blob, options?: UploadOptions): UploadHandle;
  /**
   * Uploads several files, a few at a time.
   *
   * @example
   * const queue = mediary.media.createUploadQueue({ concurrency: 3 });
   * const uploads = [...input.files].map((file) => queue.add(file));
   * const results = await Promise.allSettled(uploads.map(({ done }) => done));
   */
  createUploadQueue(options?: UploadQueueOptions): UploadQueue;
  /**
   * Tells what a file is before a byte is sent, and what the service would say about it: its warnings and
   * why it would refuse the file. It sends no request, reads at most 4 MiB, and loads its code when it is
   * called. In Node, the file is `await openFile(path)` of `@mediary/client/node`.
   *
   * Errors: FILE_UNREADABLE; `ConnectionError` if its code cannot be loaded.
   *
   * @example
   * const { refusals, duration_ms } = await mediary.media.inspect(input.files[0]);
   * if (refusals[0]) show(refusals[0].message);
   */
  inspect(file: Blob, options?: InspectOptions): Promise<FileInspection>;
  /**
   * Resolves when the asset is ready, or what `until` names; for a replacement with the asset that has its
   * file. Errors: `AssetFailedError` (`reason` is
   * `failure.code`); `MediaryError` with the code ASSET_DELETED; `TimeoutError` after `deadlineMs`.
   *
   * @example await mediary.media.waitUntilReady(asset.id, { onUpdate: ({ progress }) => show(progress) });
   */
  waitUntilReady(asset: AwaitedAsset, options?: WaitOptions): Promise<Asset>;
  /**
   * Events of one asset, until the loop is left or the signal aborts, which rejects. Connects again by
   * itself and misses nothing in between.
   *
   * @example for await (const event of mediary.media.events(id, { signal })) console.log(event.type);
   */
  events(id: string, options?: EventStreamOptions): AsyncGenerator<StreamedEvent, void, void>;
};

export type Mediary = {
  media: Media;
  events: {
    /**
     * Events of all assets of the owner; with `serviceKey` and without an owner those of all owners.
     *
     * @example for await (const event of mediary.events.stream({ signal })) console.log(event.type);
     */
    stream(options?: EventStreamOptions): AsyncGenerator<StreamedEvent, void, void>;
    /**
     * A `url` for the browser's own `EventSource`, valid for 60 s: in a back end for a page, or in the page.
     * `stream` needs none.
     *
     * @example const events = new EventSource((await mediary.events.createTicket()).url);
     */
    createTicket(options?: CallOptions): Promise<EventTicket>;
  };
  captions: CaptionCalls;
  versions: VersionCalls;
  collections: CollectionCalls;
  webhookEndpoints: WebhookEndpoints;
  uploadTokens: UploadTokenCalls;
  images: {
    /**
     * The key of `signImageUrl` of `@mediary/client/server`. It needs `serviceKey`; fetch it once.
     * Errors: 403 without `serviceKey`.
     */
    getSigningKey(options?: CallOptions): Promise<ImageSigningKey>;
  };
  usage: {
    /** Bytes, assets and open uploads of the owner, with their limits. */
    get(options?: CallOptions): Promise<Usage>;
  };
  /**
   * Calls an operation that has no function here, such as those of operators, and returns `data`.
   *
   * @example const { items } = await mediary.request({ method: 'GET', path: '/admin/providers' });
   */
  request<T>(request: ApiRequest): Promise<T>;
  /**
   * Calls an operation that returns bytes. Their time is not limited, and a failure is not repeated.
   *
   * @example const archive = await mediary.requestBytes({ method: 'GET', path: '/admin/owners/ann/export' });
   */
  requestBytes(request: ApiRequest): Promise<Response>;
  /**
   * The same client for another owner, with `serviceKey`.
   *
   * @example const asset = await mediary.forOwner('ann').media.get(id);
   */
  forOwner(ownerUserId: string): Mediary;
};

/**
 * Creates a client. Nothing is sent before the first call.
 *
 * @example const mediary = createMediary({ baseUrl: 'https://media.example.com', token: () => getToken() });
 */
export const createMediary = (options: MediaryOptions): Mediary => createClient(createTransport(options));

export function createClient(transport: Transport): Mediary {
  const calls = createAssetCalls(transport);
  const versions = createVersionCalls(transport);
  const upload: Media['upload'] = (file, options) =>
    uploadFile({ transport, calls, versions }, file, options);
  return {
    media: {
      ...calls,
      upload,
      startUpload: (file, options) => startUpload(upload, { file, options }),
      createUploadQueue: (options) => createUploadQueue(upload, options),
      inspect,
      waitUntilReady: (asset, options) => waitUntilReady(transport, asset, options),
      events: (id, options) => followEvents(transport, assetPath(id, '/events'), options),
    },
    events: {
      stream: (options) => followEvents(transport, '/events', options),
      createTicket: (options) =>
        transport.request({
          method: 'POST',
          path: '/events/ticket',
          body: ownerOf(transport, options),
          options,
        }),
    },
    captions: createCaptionCalls(transport),
    versions,
    collections: createCollectionCalls(transport),
    webhookEndpoints: createWebhookEndpoints(transport),
    uploadTokens: createUploadTokenCalls(transport),
    images: {
      getSigningKey: (options) => transport.request({ method: 'GET', path: '/image-signing-key', options }),
    },
    usage: {
      get: (options) =>
        transport.request({ method: 'GET', path: '/usage', query: ownerOf(transport, options), options }),
    },
    request: (request) => transport.request(request),
    requestBytes: async (request) => {
      const signal = request.options?.signal ?? new AbortController().signal;
      const response = await transport.open(request, signal);
      if (!response.ok) throw toError(await receive(response));
      return response;
    },
    forOwner: (ownerUserId) => createClient({ ...transport, ownerUserId }),
  };
}

/** The parsers have ten times the bytes of the client, so that they are loaded when a file is inspected. */
async function inspect(file: Blob, options: InspectOptions = {}): Promise<FileInspection> {
  const { inspectFile } = await import('./inspect/inspect-file.ts').catch((cause: unknown) => {
    throw new ConnectionError('The code that inspects files cannot be loaded.', cause);
  });
  options.signal?.throwIfAborted();
  return inspectFile(file, options);
}
