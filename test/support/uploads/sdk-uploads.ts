// Uploads and waits of journeys through the SDK.
import { AssetFailedError, type Mediary, UploadError, type UploadOptions } from '@mediary/client';
import { type RecordedCall, openMediary, recordExchanges, toAnswer } from './sdk-calls.ts';

type Api = { readonly url: string };
type Headers = Record<string, string>;
type Upload = {
  readonly file: Blob;
  /** Members of a request for an upload. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly options?: UploadOptions;
};

const OPTIONS: Readonly<Record<string, keyof UploadOptions>> = {
  filename: 'filename',
  mime_type: 'mimeType',
  visibility: 'visibility',
  title: 'title',
  tags: 'tags',
  metadata: 'metadata',
  provider: 'provider',
  duration_ms: 'durationMs',
  checksum_sha256: 'checksum',
};

/** Undefined if the SDK sends another request: it announces the size, and the kind of the media type. */
function toUploadOptions({ file, fields }: Upload): UploadOptions | undefined {
  const { content_type: kind, size_bytes: size = file.size, ...others } = fields;
  const isOwn = String(others['mime_type']).startsWith(`${kind}/`) && size === file.size && file.size > 0;
  if (!isOwn || !Object.keys(others).every((name) => name in OPTIONS)) return undefined;
  return Object.fromEntries(Object.entries(others).map(([name, value]) => [OPTIONS[name], value]));
}

type Uploaded = {
  readonly id: string;
  /** The response to the bytes, and to the request that completes the upload, where there was one. */
  readonly stored: RecordedCall | undefined;
  readonly completed: RecordedCall | undefined;
};

/** Undefined if the SDK cannot express the upload. Throws if no asset was created. */
export async function uploadBySdk(
  service: Api,
  headers: Headers,
  upload: Upload,
): Promise<Uploaded | undefined> {
  const options = toUploadOptions(upload);
  if (!options) return undefined;
  const { media } = clientOf(service, headers);
  const recorded = await recordExchanges(() => media.upload(upload.file, { ...options, ...upload.options }));
  const { data, error, exchanges } = recorded;
  if (error && !(error instanceof UploadError)) throw new Error(`upload: ${error.message}`, { cause: error });
  const completing = exchanges.findLast(({ url }) => url.endsWith('/complete'));
  return {
    id: error?.assetId ?? data?.id ?? '',
    stored: exchanges.findLast(({ method }) => method === 'PUT'),
    completed: completing && toAnswer(completing, recorded),
  };
}

/** The asset when it is ready or failed. */
export async function waitBySdk(service: Api, headers: Headers, id: string) {
  const { data } = await recordExchanges(() =>
    clientOf(service, headers)
      .media.waitUntilReady(id, { deadlineMs: 120_000 })
      .catch((error: unknown) => {
        if (error instanceof AssetFailedError) return error.asset;
        throw error;
      }),
  );
  if (!data) throw new Error(`The service refuses to show ${id}`);
  return data;
}

function clientOf({ url }: Api, headers: Headers): Mediary {
  const mediary = openMediary(url, headers);
  if (!mediary) throw new Error('The SDK cannot send these credentials');
  return mediary;
}
