// A lock in a bucket: an object that its holder renews. Compares no clocks: a waiting process watches it.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { TargetInUseError, type TargetLock } from '../backup-target.ts';
import type { ObjectKey } from '../object-key.ts';
import type { S3Connection } from '../s3/connection.ts';
import { hasName } from '../s3/errors.ts';

/** In milliseconds. A lock that is not renewed for `lease` belongs to a killed process. */
export type LockTimes = { readonly lease: number; readonly renew: number; readonly poll: number };

export const LOCK_TIMES: LockTimes = { lease: 120_000, renew: 20_000, poll: 1000 };

const LOCK = 'lock' as ObjectKey;

type LockedBucket = { readonly s3: S3Connection; readonly name: string; readonly times: LockTimes };

/** `renewals` makes each version another one. */
type LockContent = { readonly token: string; readonly holder: string; readonly renewals: number };
type FoundLock = { readonly content: LockContent; readonly etag: string | undefined };

export async function lockBucket(bucket: LockedBucket, signal: AbortSignal): Promise<TargetLock> {
  const content = { token: randomUUID(), holder: `${hostname()}, process ${process.pid}`, renewals: 0 };
  let seen: { readonly etag: string | undefined; readonly atMs: number } | undefined;
  while (!(await tryLock(bucket, content, { IfNoneMatch: '*' }))) {
    const found = await findLock(bucket.s3);
    if (!found) continue;
    const isSame = seen?.etag === found.etag;
    const isStale = isSame && performance.now() - (seen?.atMs ?? 0) >= bucket.times.lease;
    if (isStale && (await tryLock(bucket, content, { IfMatch: found.etag }))) break;
    if (seen && (isStale || !isSame)) throw inUse(bucket.name, found.content);
    seen ??= { etag: found.etag, atMs: performance.now() };
    await delay(bucket.times.poll, undefined, { signal });
  }
  return keepLock(bucket, content);
}

const inUse = (name: string, { holder }: LockContent): Error =>
  new TargetInUseError(
    `Another backup (${holder}) is writing to ${name}. Wait for its end, or choose another prefix.`,
  );

type Condition = { readonly IfNoneMatch: '*' } | { readonly IfMatch: string | undefined };

/** Reads it back: a response may be lost, and a store may ignore the condition. */
async function tryLock({ s3 }: LockedBucket, content: LockContent, condition: Condition): Promise<boolean> {
  const Body = Buffer.from(JSON.stringify(content));
  const command = new PutObjectCommand({ ...s3.at(LOCK), ...condition, Body, ContentLength: Body.length });
  try {
    await s3.run((options) => s3.client.send(command, options));
  } catch (error) {
    if (!hasName(error, 'PreconditionFailed', 'NoSuchKey')) throw error;
  }
  return (await findLock(s3))?.content.token === content.token;
}

async function findLock(s3: S3Connection): Promise<FoundLock | undefined> {
  const found = await s3.find((options) => s3.reader.send(new GetObjectCommand(s3.at(LOCK)), options));
  if (!found) return undefined;
  const text = (await buffer(found.Body as AsyncIterable<Uint8Array>)).toString();
  return { content: JSON.parse(text) as LockContent, etag: found.ETag };
}

function keepLock(bucket: LockedBucket, first: LockContent): TargetLock {
  const { s3, name, times } = bucket;
  const losing = new AbortController();
  let content = first;
  let renewedMs = performance.now();
  const renew = async () => {
    losing.signal.throwIfAborted();
    const found = await findLock(s3);
    if (found?.content.token === content.token) {
      content = { ...content, renewals: content.renewals + 1 };
      if (await tryLock(bucket, content, { IfMatch: found.etag })) {
        renewedMs = performance.now();
        return;
      }
    }
    losing.abort(new TargetInUseError(`The lock of ${name} was lost to another backup`));
    losing.signal.throwIfAborted();
  };
  let renewal = Promise.resolve();
  const renewNow = () => {
    renewal = renewal.catch(() => {}).then(renew);
    return renewal;
  };
  const timer = setInterval(() => {
    // A failed request is no loss yet.
    renewNow().catch(() => {});
    if (performance.now() - renewedMs >= times.lease)
      losing.abort(new Error(`The lock of ${name} could not be renewed for ${times.lease / 1000} s`));
  }, times.renew);
  return {
    signal: losing.signal,
    assertHeld: renewNow,
    release: async () => {
      clearInterval(timer);
      await renewal.catch(() => {});
      // A lock that cannot be deleted expires.
      await deleteLock(s3, content).catch(() => {});
    },
  };
}

async function deleteLock(s3: S3Connection, { token }: LockContent): Promise<void> {
  if ((await findLock(s3))?.content.token !== token) return;
  await s3.run((options) => s3.client.send(new DeleteObjectCommand(s3.at(LOCK)), options));
}
