// Copies an object within the bucket: the store itself does, or the service in parts if it is large.
import { CopyObjectCommand } from '@aws-sdk/client-s3';
import type { ObjectKey } from '../object-key.ts';
import { unlessStored } from '../whole-objects.ts';
import type { S3Connection } from './connection.ts';
import type { PartMemory } from './part-memory.ts';
import { putObject } from './put.ts';
import { sizeOf, streamObject } from './read.ts';

/** A copy is one request, which ends at the deadline of all requests. S3 itself copies up to 5 GiB. */
const MAX_STORE_COPY_BYTES = 1024 ** 3;

type Copy = { readonly from: ObjectKey; readonly to: ObjectKey };

export async function copyObject(s3: S3Connection, memory: PartMemory, { from, to }: Copy): Promise<void> {
  const size = (await sizeOf(s3, from)) ?? 0;
  if (size > MAX_STORE_COPY_BYTES)
    await unlessStored(putObject(s3, memory, { key: to, bytes: streamObject(s3, from), maxBytes: size }));
  else await copyInStore(s3, { from, to });
}

async function copyInStore(s3: S3Connection, { from, to }: Copy): Promise<void> {
  const { Bucket, Key } = s3.at(from);
  const CopySource = `${Bucket}/${encodeURIComponent(Key)}`;
  await s3.run((options) => s3.client.send(new CopyObjectCommand({ ...s3.at(to), CopySource }), options));
}
