// The client: `createMediary`.
import type { Asset } from './api/assets.ts';
import type { Usage } from './api/library.ts';
import { type CaptionCalls, createCaptionCalls } from './captions.ts';
import { type StreamedEvent, type SubscribeOptions, subscribe } from './events.ts';
import { type AssetCalls, assetPath, createAssetCalls, ownerOf } from './media.ts';
import { type CallOptions, createTransport, type MediaryOptions } from './transport.ts';
import { uploadFile } from './upload/upload.ts';
import type { UploadOptions } from './upload/upload-options.ts';
import { type WaitOptions, waitUntilReady } from './wait-until-ready.ts';
import { createWebhookEndpoints, type WebhookEndpoints } from './webhook-endpoints.ts';

export type Media = AssetCalls & {
  /**
   * Uploads a file: creates the asset, sends the bytes to the service, an object store or a video provider,
   * whichever the service names, continues after interruptions, and completes the upload. The asset is
   * `processing` then; see `waitUntilReady`. In Node, `await openAsBlob(path)` of `node:fs` is the file.
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
   * Resolves when the asset is ready. Errors: `AssetFailedError` (`reason` is `failure.code`); `MediaryError`
   * with the code ASSET_DELETED; `TimeoutError` after `timeoutMs`.
   *
   * @example await mediary.media.waitUntilReady(asset.id, { onUpdate: ({ progress }) => show(progress) });
   */
  waitUntilReady(id: string, options?: WaitOptions): Promise<Asset>;
  /**
   * Events of one asset, until the loop is left or the signal aborts, which rejects. Connects again by
   * itself and misses nothing in between.
   *
   * @example for await (const event of mediary.media.events(id, { signal })) console.log(event.type);
   */
  events(id: string, options?: SubscribeOptions): AsyncGenerator<StreamedEvent, never>;
};

export type Mediary = {
  media: Media;
  events: {
    /** Events of all assets of the owner; with `serviceKey` and without `ownerUserId` those of all owners. */
    subscribe(options?: SubscribeOptions): AsyncGenerator<StreamedEvent, never>;
  };
  captions: CaptionCalls;
  webhookEndpoints: WebhookEndpoints;
  usage: {
    /** Bytes, assets and open uploads of the owner, with their limits. */
    get(options?: CallOptions): Promise<Usage>;
  };
};

/**
 * Creates a client. Nothing is sent before the first call.
 *
 * @example const mediary = createMediary({ baseUrl: 'https://media.example.com', token: () => getToken() });
 */
export function createMediary(options: MediaryOptions): Mediary {
  const transport = createTransport(options);
  const calls = createAssetCalls(transport);
  return {
    media: {
      ...calls,
      upload: (file, uploadOptions) => uploadFile({ transport, calls }, file, uploadOptions),
      waitUntilReady: (id, waitOptions) => waitUntilReady(transport, id, waitOptions),
      events: (id, streamOptions) => subscribe(transport, assetPath(id, '/events'), streamOptions),
    },
    events: { subscribe: (streamOptions) => subscribe(transport, '/events', streamOptions) },
    captions: createCaptionCalls(transport),
    webhookEndpoints: createWebhookEndpoints(transport),
    usage: {
      get: (callOptions) =>
        transport.request({
          method: 'GET',
          path: '/usage',
          query: ownerOf(callOptions),
          options: callOptions,
        }),
    },
  };
}
