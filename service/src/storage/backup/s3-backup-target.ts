// Backup target in an S3-compatible bucket, with credentials and timeouts of its own.
import {
  AbortMultipartUploadCommand,
  DeleteObjectsCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
} from '@aws-sdk/client-s3';
import {
  type BackupTarget,
  type NewTargetFile,
  type TargetFile,
  TargetInUseError,
} from '../backup-target.ts';
import type { ObjectKey } from '../object-key.ts';
import { ObjectStoreError, type StoredBytes } from '../object-store.ts';
import { exactBytes } from '../received-bytes.ts';
import { connect, type S3Connection, type S3Timeouts } from '../s3/connection.ts';
import { describeStoreError } from '../s3/errors.ts';
import { createPartMemory } from '../s3/part-memory.ts';
import { partBytesFor } from '../s3/parts.ts';
import { putObject } from '../s3/put.ts';
import { openObject } from '../s3/read.ts';
import type { S3Location } from '../storage-url.ts';
import { LOCK_TIMES, type LockTimes, lockBucket } from './bucket-lock.ts';

/** A part of 8 MiB may take ten minutes: uplinks of small machines are slow. */
const TIMEOUTS: S3Timeouts = { connect: 10_000, idle: 60_000, request: 600_000 };
const MAX_ATTEMPTS = 5;
/** Two parts of a file are sent while the next one is collected. */
const PARTS_IN_MEMORY = 4;
/** What one request deletes. */
const MAX_DELETED = 1000;
/** Their files are sent in one process at a time, that of the lock. */
const LOCKED_FOLDERS = ['objects', 'database'];

type BucketAccess = {
  readonly location: S3Location;
  /** Undefined: those that the AWS tools would find. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
};

type BucketTimes = { readonly lock?: LockTimes; readonly requests?: S3Timeouts };

export function openS3BackupTarget(
  { location, credentials }: BucketAccess,
  { lock = LOCK_TIMES, requests = TIMEOUTS }: BucketTimes = {},
): BackupTarget {
  const name = `s3://${location.bucket}/${location.prefix}`.replace(/\/$/, '');
  const s3 = connectTo(location, requests, credentials);
  const explained = <T>(work: Promise<T>): Promise<T> => work.catch((error) => explain(name, error));
  return {
    location: name,
    list: async function* (folder) {
      const pages = pagesOf(s3, folder);
      for (;;) {
        const { value, done } = await explained(pages.next());
        if (done) return;
        yield* value;
      }
    },
    read: async (path) => {
      const found = await explained(openObject(s3, keyOf(path)));
      return found && explainedBytes(name, found.body);
    },
    write: (file, bytes) => explained(writeObject(s3, file, bytes)),
    remove: (paths) => explained(removeObjects(s3, paths)),
    lock: async (signal) => {
      const held = await explained(lockBucket({ s3, name, times: lock }, signal));
      await abortUnfinished(s3);
      return { ...held, assertHeld: () => explained(held.assertHeld()) };
    },
    close: s3.close,
  };
}

/** The files of a backup have other names than the objects of a store. */
function connectTo(
  location: S3Location,
  timeouts: S3Timeouts,
  credentials: BucketAccess['credentials'],
): S3Connection {
  const options = { maxAttempts: MAX_ATTEMPTS, ...(credentials && { credentials }) };
  const at: S3Connection['at'] = (path) => ({
    Bucket: location.bucket,
    Key: `${location.prefix}${requirePath(path)}`,
  });
  return { ...connect(location, timeouts, options), at };
}

const PATH = /^[a-z]+(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/;

function requirePath(path: string): string {
  if (!PATH.test(path)) throw new Error(`"${path}" is not a file of a backup`);
  return path;
}

const keyOf = (path: string) => path as ObjectKey;

/** What the store answered, for people. Errors of the source stay as they are. */
function explain(name: string, error: unknown): never {
  const isOwn =
    error instanceof ObjectStoreError ? error.reason !== 'full' : error instanceof TargetInUseError;
  if (isOwn) throw error;
  const words = error instanceof ObjectStoreError ? 'the store is full' : describeStoreError(error);
  throw new Error(`The backup target ${name} does not work: ${words}`, { cause: error });
}

async function* explainedBytes(name: string, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    explain(name, error);
  }
}

async function* pagesOf(s3: S3Connection, folder: string): AsyncGenerator<TargetFile[]> {
  const { Bucket, Key } = s3.at(keyOf(folder));
  for (let token: string | undefined; ; ) {
    const command = new ListObjectsV2Command({ Bucket, Prefix: `${Key}/`, ContinuationToken: token });
    const page = await s3.run((options) => s3.client.send(command, options));
    yield (page.Contents ?? []).map(({ Key: key = '', Size = 0, ETag }) => ({
      path: key.slice(s3.location.prefix.length),
      sizeBytes: Size,
      tag: ETag,
    }));
    if (!page.IsTruncated) return;
    token = page.NextContinuationToken;
  }
}

function writeObject(
  s3: S3Connection,
  { path, sizeBytes }: NewTargetFile,
  bytes: AsyncIterable<Uint8Array>,
): Promise<StoredBytes> {
  // Its own budget: files that are sent at the same time never wait for each other.
  const totalBytes = PARTS_IN_MEMORY * partBytesFor(sizeBytes);
  const memory = createPartMemory({ totalBytes, maxWaitMs: Number.POSITIVE_INFINITY });
  const source = exactBytes(bytes, sizeBytes);
  return putObject(s3, memory, { key: keyOf(path), bytes: source, maxBytes: sizeBytes });
}

async function removeObjects(s3: S3Connection, paths: readonly string[]): Promise<void> {
  const { bucket: Bucket } = s3.location;
  for (let start = 0; start < paths.length; start += MAX_DELETED) {
    const Objects = paths.slice(start, start + MAX_DELETED).map((path) => ({ Key: s3.at(keyOf(path)).Key }));
    const { Errors: [failed] = [] } = await s3.run((options) =>
      s3.client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true } }), options),
    );
    if (failed) throw new Error(`${failed.Key} cannot be deleted (${failed.Code})`);
  }
}

/** The parts of killed backups are billed. Without this right, a lifecycle rule has to remove them. */
async function abortUnfinished(s3: S3Connection): Promise<void> {
  for (const folder of LOCKED_FOLDERS) {
    const { Bucket, Key } = s3.at(keyOf(folder));
    const command = new ListMultipartUploadsCommand({ Bucket, Prefix: `${Key}/` });
    const { Uploads = [] } = await s3
      .run((options) => s3.client.send(command, options))
      .catch(() => ({ Uploads: [] }));
    for (const { Key: key, UploadId } of Uploads) {
      const abort = new AbortMultipartUploadCommand({ Bucket, Key: key, UploadId });
      await s3.run((options) => s3.client.send(abort, options)).catch(() => {});
    }
  }
}
