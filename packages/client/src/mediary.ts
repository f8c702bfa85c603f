// The client: `createMediary`.
import type { Asset } from './api/assets.ts';
import type { Usage } from './api/library.ts';
import { type AssetCalls, createAssetCalls, ownerOf } from './media.ts';
import { type CallOptions, createTransport, type MediaryOptions } from './transport.ts';
import { type UploadOptions, uploadFile } from './upload/upload.ts';

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
};

export type Mediary = {
  media: Media;
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
    },
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
