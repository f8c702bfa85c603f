// Transfers between clients and the store: presigned requests, and uploads in parts.
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
} from '@aws-sdk/client-s3';
import {
  type DirectUploads,
  type MultipartUpload,
  ObjectStoreError,
  type PresignedRequest,
  type StartedMultipart,
  type StoredPart,
} from '../object-store.ts';
import type { ObjectKey } from '../object-key.ts';
import type { S3Connection } from './connection.ts';
import { hasName, throwStoreError } from './errors.ts';
import { MAX_EXPIRY_SECONDS, presign, type RequestToSign } from './presign.ts';
import { sizeOf } from './read.ts';

export const openDirectUploads = (s3: S3Connection): DirectUploads => ({
  presignPut: ({ key, contentType, contentLength, sha256, expiresInSeconds }) =>
    presigned(s3, {
      method: 'PUT',
      key: s3.at(key).Key,
      headers: { 'content-type': contentType, 'if-none-match': '*', ...bodyHeaders(contentLength, sha256) },
      expiresInSeconds,
    }),
  presignGet: ({ key, responseContentDisposition: disposition, expiresInSeconds, ...response }) =>
    presigned(s3, {
      method: 'GET',
      key: s3.at(key).Key,
      query: {
        ...(disposition !== undefined && { 'response-content-disposition': disposition }),
        'response-content-type': response.responseContentType,
        'response-cache-control': response.responseCacheControl ?? 'private, no-store',
      },
      expiresInSeconds,
    }),
  presignPart: ({ key, uploadId, partNumber, contentLength, sha256, expiresInSeconds }) =>
    presigned(s3, {
      method: 'PUT',
      key: s3.at(key).Key,
      query: { partNumber: String(partNumber), uploadId },
      headers: bodyHeaders(contentLength, sha256),
      expiresInSeconds,
    }),
  createMultipart: async (key, contentType) => {
    const { UploadId = '' } = await s3.run((options) =>
      s3.client.send(new CreateMultipartUploadCommand({ ...s3.at(key), ContentType: contentType }), options),
    );
    return { key, uploadId: UploadId };
  },
  listParts: (upload) => listParts(s3, upload),
  listMultiparts: (prefix) => listMultiparts(s3, prefix),
  completeMultipart: (upload, parts) => complete(s3, upload, parts),
  abortMultipart: async (upload) => {
    await undefinedIfEnded(() =>
      s3.run((options) => s3.client.send(new AbortMultipartUploadCommand(idsOf(s3, upload)), options)),
    );
  },
});

const bodyHeaders = (length: number, sha256: string | undefined): Record<string, string> => ({
  'content-length': String(length),
  ...(sha256 !== undefined && { 'x-amz-content-sha256': sha256 }),
});

const idsOf = (s3: S3Connection, { key, uploadId }: MultipartUpload) => ({
  ...s3.at(key),
  UploadId: uploadId,
});

/** A URL is never valid for longer than the credentials that sign it. */
async function presigned(s3: S3Connection, request: RequestToSign): Promise<PresignedRequest> {
  const credentials = await s3.client.config.credentials().catch(throwStoreError);
  const now = new Date();
  const credentialsEnd = credentials.expiration?.getTime() ?? Number.POSITIVE_INFINITY;
  const expiresInSeconds = Math.floor(
    Math.min(request.expiresInSeconds, MAX_EXPIRY_SECONDS, (credentialsEnd - now.getTime()) / 1000),
  );
  return {
    method: request.method,
    url: presign({ location: s3.location, credentials, now }, { ...request, expiresInSeconds }),
    headers: request.headers ?? {},
    expiresAt: new Date(now.getTime() + expiresInSeconds * 1000),
  };
}

async function listParts(s3: S3Connection, upload: MultipartUpload): Promise<StoredPart[] | undefined> {
  const parts: StoredPart[] = [];
  for (let after: string | undefined; ; ) {
    const page = await undefinedIfEnded(() =>
      s3.run((options) =>
        s3.client.send(new ListPartsCommand({ ...idsOf(s3, upload), PartNumberMarker: after }), options),
      ),
    );
    if (!page) return undefined;
    for (const { PartNumber = 0, ETag = '', Size = 0 } of page.Parts ?? [])
      parts.push({ partNumber: PartNumber, etag: ETag, sizeBytes: Size });
    if (!page.IsTruncated) return parts;
    after = page.NextPartNumberMarker;
  }
}

async function* listMultiparts(s3: S3Connection, prefix: ObjectKey): AsyncGenerator<StartedMultipart> {
  const { Bucket, Key: Prefix } = s3.at(prefix);
  for (let KeyMarker: string | undefined, UploadIdMarker: string | undefined; ; ) {
    const command = new ListMultipartUploadsCommand({ Bucket, Prefix, KeyMarker, UploadIdMarker });
    const page = await s3.run((options) => s3.client.send(command, options));
    for (const { Key = '', UploadId = '', Initiated = new Date() } of page.Uploads ?? [])
      yield {
        key: Key.slice(s3.location.prefix.length) as ObjectKey,
        uploadId: UploadId,
        startedAt: Initiated,
      };
    if (!page.IsTruncated) return;
    KeyMarker = page.NextKeyMarker;
    UploadIdMarker = page.NextUploadIdMarker;
  }
}

const REFUSED_PARTS = ['InvalidPart', 'InvalidPartOrder', 'EntityTooSmall', 'MalformedXML', 'InvalidRequest'];

/** Not every store refuses to complete an upload whose key is in use, so the key is looked up before. */
async function complete(
  s3: S3Connection,
  upload: MultipartUpload,
  parts: readonly StoredPart[],
): Promise<void> {
  const Parts = parts
    .map(({ partNumber, etag }) => ({ PartNumber: partNumber, ETag: etag }))
    .sort((a, b) => a.PartNumber - b.PartNumber);
  const command = new CompleteMultipartUploadCommand({
    ...idsOf(s3, upload),
    MultipartUpload: { Parts },
    IfNoneMatch: '*',
  });
  if (await isCompleted(s3, upload, parts)) return;
  try {
    await s3.run((options) => s3.client.send(command, options));
  } catch (error) {
    if (hasName(error, ...REFUSED_PARTS)) throw new ObjectStoreError('cut_short', { cause: error });
    // The response of an earlier attempt may have been lost.
    if (await isCompleted(s3, upload, parts)) return;
    throw hasName(error, ...ENDED) ? new ObjectStoreError('lost', { cause: error }) : error;
  }
}

/** Throws ObjectStoreError `exists` when another upload used the key. */
async function isCompleted(
  s3: S3Connection,
  upload: MultipartUpload,
  parts: readonly StoredPart[],
): Promise<boolean> {
  const storedBytes = await sizeOf(s3, upload.key);
  if (storedBytes === undefined) return false;
  const sizeBytes = parts.reduce((sum, part) => sum + part.sizeBytes, 0);
  const hasEnded = (await listParts(s3, upload)) === undefined;
  if (!hasEnded || storedBytes !== sizeBytes) throw new ObjectStoreError('exists');
  return true;
}

/** Ceph says NoSuchKey. */
const ENDED = ['NoSuchUpload', 'NoSuchKey'];

async function undefinedIfEnded<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (hasName(error, ...ENDED)) return undefined;
    throw error;
  }
}
