// Builds the requests that send a file to the upload target of a hosted provider: pure.
import type { UploadTarget } from '@mediary/contract/schemas/upload-targets';

type Target<P extends UploadTarget['protocol']> = Extract<UploadTarget, { readonly protocol: P }>;
export type TusTarget = Target<'tus'>;
type FormTarget = Target<'form'>;

type Headers = Readonly<Record<string, string>>;

/** An open tus upload: its URL takes the bytes. */
export type TusUpload = {
  readonly url: string;
  readonly headers: Headers;
  /** Bytes of one request; null: the rest of the file. */
  readonly chunkSize: number | null;
};

const TUS = { 'Tus-Resumable': '1.0.0' };

/** The upload of a target that is created already; undefined if its URL creates one. */
export const toOpenUpload = ({ method, ...target }: TusTarget): TusUpload | undefined =>
  method === 'PATCH' ? toUpload(target) : undefined;

const toUpload = ({
  url,
  headers,
  chunk_size_bytes,
}: Pick<TusTarget, 'url' | 'headers' | 'chunk_size_bytes'>) => ({
  url,
  headers,
  chunkSize: chunk_size_bytes ?? null,
});

export const buildCreationHeaders = ({ headers, fields }: TusTarget, sizeBytes: number): Headers => {
  const pairs = Object.entries(fields).map(
    ([name, value]) => `${name} ${Buffer.from(value).toString('base64')}`,
  );
  return {
    ...TUS,
    ...headers,
    'Upload-Length': String(sizeBytes),
    ...(pairs.length > 0 && { 'Upload-Metadata': pairs.join(',') }),
  };
};

/** The upload that a creation returned; undefined if the response does not name one. */
export function parseCreation(target: TusTarget, location: string | null): TusUpload | undefined {
  const url = location === null ? null : URL.parse(location, target.url);
  return url && /^https?:$/.test(url.protocol) ? { ...toUpload(target), url: url.href } : undefined;
}

export const buildOffsetHeaders = ({ headers }: TusUpload): Headers => ({ ...TUS, ...headers });

/** The bytes of the next request, both inclusive. */
type Chunk = { readonly start: number; readonly end: number };

/** Where the provider names no size: a transfer gives way to other owners between two chunks. */
const CHUNK_BYTES = 64 * 1024 * 1024;

export const planChunk = ({ chunkSize }: TusUpload, offset: number, sizeBytes: number): Chunk => ({
  start: offset,
  end: Math.min(sizeBytes, offset + (chunkSize ?? CHUNK_BYTES)) - 1,
});

export const buildChunkHeaders = ({ headers }: TusUpload, { start }: Chunk): Headers => ({
  ...TUS,
  ...headers,
  'Content-Type': 'application/offset+octet-stream',
  'Upload-Offset': String(start),
});

/** How many bytes the upload has; undefined if the response does not say, or says what cannot be. */
export function parseOffset(offset: string | null, sizeBytes: number): number | undefined {
  if (offset === null || !/^\d{1,15}$/.test(offset)) return undefined;
  return Number(offset) <= sizeBytes ? Number(offset) : undefined;
}

type FormFile = { readonly filename: string; readonly mimeType: string };
/** What comes before and after the bytes of the file. */
type Form = { readonly head: Buffer; readonly tail: Buffer; readonly headers: Headers };

/** As a browser sends it: the fields, then the file in the field `file` (RFC 7578). */
export function buildForm({ headers, fields = {} }: FormTarget, file: FormFile, boundary: string): Form {
  const parts = Object.entries(fields).map(
    ([name, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(name)}"\r\n\r\n${value}\r\n`,
  );
  const name = escapeName(file.filename);
  const head =
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n` +
    `Content-Type: ${file.mimeType}\r\n\r\n`;
  return {
    head: Buffer.from(parts.join('') + head),
    tail: Buffer.from(`\r\n--${boundary}--\r\n`),
    headers: { ...headers, 'Content-Type': `multipart/form-data; boundary=${boundary}` },
  };
}

/** As the HTML standard says. */
const escapeName = (name: string): string =>
  name.replace(/"/g, '%22').replace(/\r/g, '%0D').replace(/\n/g, '%0A');
