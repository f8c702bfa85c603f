// Copies objects within the store: it does so itself in one request, or in parts if the object is large.
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import type { ObjectKey } from '../object-key.ts';
import type { S3Connection } from './connection.ts';
import { isStored, toNewObject } from './put.ts';
import { sizeOf } from './read.ts';

const MIB = 1024 ** 2;
/** The limit of S3 for one request. Some stores then share the bytes, which they do not for parts. */
const MAX_WHOLE_BYTES = 5 * 1024 * MIB;
/** A part that fails is copied again. */
const PART_BYTES = 64 * MIB;
const MAX_PARTS = 10_000;
const PARTS_IN_FLIGHT = 4;

type StoredObject = { readonly Bucket: string; readonly Key: string };

/** `ifMatch`: the ETag of a source that the service did not store. */
type StoreCopy = {
  readonly source: StoredObject;
  readonly to: ObjectKey;
  readonly sizeBytes: number;
  readonly ifMatch?: string | undefined;
  readonly signal?: AbortSignal;
  /** Larger objects are copied in parts; default: 5 GiB. */
  readonly maxWholeBytes?: number | undefined;
};

/** A missing source is an error of the store. */
export async function copyObject(
  s3: S3Connection,
  { from, to }: { readonly from: ObjectKey; readonly to: ObjectKey },
): Promise<void> {
  const sizeBytes = (await sizeOf(s3, from)) ?? 0;
  await copyInStore(s3, { source: s3.at(from), to, sizeBytes });
}

/** Metadata and tags of a source that the service did not store stay behind. */
export async function copyInStore(s3: S3Connection, copy: StoreCopy): Promise<void> {
  if (copy.sizeBytes > (copy.maxWholeBytes ?? MAX_WHOLE_BYTES)) return copyInParts(s3, copy);
  const command = new CopyObjectCommand({
    ...s3.at(copy.to),
    ...sourceOf(copy),
    ...(copy.ifMatch !== undefined && { MetadataDirective: 'REPLACE', TaggingDirective: 'REPLACE' }),
  });
  await s3.runCopy((options) => s3.copier.send(command, options), copy.signal);
}

const sourceOf = ({ source: { Bucket, Key }, ifMatch }: StoreCopy) => ({
  CopySource: `${Bucket}/${encodeKey(Key)}`,
  ...(ifMatch !== undefined && { CopySourceIfMatch: ifMatch }),
});

const encodeKey = (key: string): string => key.split('/').map(encodeURIComponent).join('/');

type CopiedParts = StoreCopy & { readonly upload: StoredObject & { readonly UploadId: string | undefined } };

async function copyInParts(s3: S3Connection, copy: StoreCopy): Promise<void> {
  const target = s3.at(copy.to);
  const object = toNewObject(s3, copy.to);
  const start = new CreateMultipartUploadCommand({ ...target, Metadata: object.metadata });
  const { UploadId } = await s3.run((options) => s3.client.send(start, options));
  const upload = { ...target, UploadId };
  try {
    const Parts = await copyParts(s3, { ...copy, upload });
    const command = new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } });
    const completing = s3.runCopy((options) => s3.copier.send(command, options));
    await completing.catch(async (error: unknown) => {
      // The response of an attempt that succeeded may have been lost.
      if (!(await isStored(object))) throw error;
    });
  } catch (error) {
    const ending = s3.run((options) => s3.client.send(new AbortMultipartUploadCommand(upload), options));
    // When the store does not answer, its lifecycle rule removes the parts.
    await Promise.allSettled([ending]);
    throw error;
  }
}

/** The first part that fails ends the others, which must not arrive after the upload is aborted. */
async function copyParts(s3: S3Connection, copy: CopiedParts): Promise<CompletedPart[]> {
  const { sizeBytes, signal, upload } = copy;
  const partBytes = Math.max(PART_BYTES, Math.ceil(sizeBytes / MAX_PARTS / MIB) * MIB);
  const parts: CompletedPart[] = [];
  const ending = new AbortController();
  const ended = signal ? AbortSignal.any([signal, ending.signal]) : ending.signal;
  const numbers = Array.from({ length: Math.ceil(sizeBytes / partBytes) }, (_, index) => index).values();
  const copyNext = async (): Promise<void> => {
    for (const index of numbers) {
      ended.throwIfAborted();
      const last = Math.min((index + 1) * partBytes, sizeBytes) - 1;
      const command = new UploadPartCopyCommand({
        ...upload,
        ...sourceOf(copy),
        PartNumber: index + 1,
        CopySourceRange: `bytes=${index * partBytes}-${last}`,
      });
      const { CopyPartResult } = await s3.runCopy((options) => s3.copier.send(command, options), ended);
      parts[index] = { PartNumber: index + 1, ETag: CopyPartResult?.ETag };
    }
  };
  const workers = Array.from({ length: PARTS_IN_FLIGHT }, () =>
    copyNext().catch((error: unknown) => {
      ending.abort();
      throw error;
    }),
  );
  const results = await Promise.allSettled(workers);
  // The others fail because of the first.
  const failed = results.find((result) => result.status === 'rejected' && !isAbort(result.reason));
  const rejected = failed ?? results.find((result) => result.status === 'rejected');
  if (rejected?.status === 'rejected') throw rejected.reason;
  return parts;
}

const isAbort = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError';
