// Stores objects of unknown length: small ones in one request, larger ones in parts.
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { type ObjectBytes, ObjectStoreError, type StoredBytes } from '../object-store.ts';
import type { ObjectKey } from '../object-key.ts';
import type { S3Connection } from './connection.ts';
import { hasName, throwStoreError } from './errors.ts';
import { type MultipartPut, type NewObject, startMultipartPut } from './multipart-put.ts';
import type { PartMemory } from './part-memory.ts';
import { collectParts, partBytesFor } from './parts.ts';

/** A lost response hides whether an object was stored; this metadata tells whose object is at the key. */
const PUT_ID = 'mediary-put';

type PutRequest = {
  readonly key: ObjectKey;
  readonly bytes: ObjectBytes;
  readonly maxBytes: number;
};

export async function putObject(
  s3: S3Connection,
  memory: PartMemory,
  { key, bytes, maxBytes }: PutRequest,
): Promise<StoredBytes> {
  const put = toNewObject(s3, key);
  const digest = createHash('sha256');
  let sizeBytes = 0;
  let multipart: MultipartPut | undefined;
  try {
    for await (const part of collectParts(bytes, {
      maxBytes,
      partBytes: partBytesFor(maxBytes),
      memory,
      digest,
    })) {
      sizeBytes += part.bytes.byteLength;
      if (part.isLast && !multipart) await storeOnce(put, () => putWhole(put, part.bytes));
      else {
        multipart ??= await startMultipart(put);
        await multipart.add(part);
      }
    }
    if (multipart) await completeOnce(put, multipart);
  } catch (error) {
    await multipart?.abort();
    throw error;
  }
  return { sizeBytes, sha256: digest.digest('hex') };
}

export async function putFile(
  s3: S3Connection,
  memory: PartMemory,
  { key, path }: { readonly key: ObjectKey; readonly path: string },
): Promise<void> {
  const { size } = await stat(path);
  await putObject(s3, memory, { key, bytes: readFileChunks(path), maxBytes: size });
}

/** Opens the file at the first read: nobody would close it if the put fails before. */
async function* readFileChunks(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path);
}

async function putWhole({ s3, key, metadata }: NewObject, bytes: Buffer): Promise<void> {
  await s3.run((options) =>
    s3.client.send(
      new PutObjectCommand({
        ...s3.at(key),
        Body: bytes,
        ContentLength: bytes.byteLength,
        Metadata: metadata,
        IfNoneMatch: '*',
      }),
      options,
    ),
  );
}

async function startMultipart(put: NewObject): Promise<MultipartPut> {
  if (await findPutId(put)) throw new ObjectStoreError('exists');
  return startMultipartPut(put);
}

/** Not every store refuses to complete an upload whose key is in use, so the key is looked up before. */
async function completeOnce(put: NewObject, multipart: MultipartPut): Promise<void> {
  await multipart.partsStored();
  if (await findPutId(put)) throw new ObjectStoreError('exists');
  await storeOnce(put, multipart.complete);
}

/**
 * After an error the object may be stored nevertheless, and a repeated request may be refused because of the
 * first.
 */
async function storeOnce(put: NewObject, store: () => Promise<void>): Promise<void> {
  try {
    await store();
  } catch (error) {
    const found = await findPutId(put).catch(() => throwStoreError(error));
    if (found?.id === put.metadata[PUT_ID]) return;
    if (found || hasName(error, 'PreconditionFailed')) throw new ObjectStoreError('exists', { cause: error });
    throw error;
  }
}

export const toNewObject = (s3: S3Connection, key: ObjectKey): NewObject => ({
  s3,
  key,
  metadata: { [PUT_ID]: randomUUID() },
});

/** Whether the object at the key is this one. */
export const isStored = async (put: NewObject): Promise<boolean> =>
  (await findPutId(put))?.id === put.metadata[PUT_ID];

async function findPutId({ s3, key }: NewObject): Promise<{ id: string | undefined } | undefined> {
  const found = await s3.find((options) => s3.client.send(new HeadObjectCommand(s3.at(key)), options));
  return found && { id: found.Metadata?.[PUT_ID] };
}
