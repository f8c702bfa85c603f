// A lock in a bucket: the newest of its numbered objects, which its holder renews. Compares no clocks.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { DeleteObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { TargetInUseError, type TargetLock } from '../backup-target.ts';
import type { ObjectKey } from '../object-key.ts';
import type { S3Connection } from '../s3/connection.ts';
import { hasName } from '../s3/errors.ts';
import { openObject } from '../s3/read.ts';

/** In milliseconds. A lock that is not renewed for `lease` belongs to a killed process. */
export type LockTimes = { readonly lease: number; readonly renew: number; readonly poll: number };

export const LOCK_TIMES: LockTimes = { lease: 120_000, renew: 20_000, poll: 1000 };

type LockedBucket = { readonly s3: S3Connection; readonly name: string; readonly times: LockTimes };

type LockContent = {
  readonly token: string;
  readonly holder: string;
  readonly renewals: number;
  readonly isReleased: boolean;
};

const keyOf = (number: number): ObjectKey => `lock/${String(number).padStart(8, '0')}` as ObjectKey;

/** Who waits watches the lock of another process: it is renewed, or stays the same for the lease. */
export async function lockBucket(bucket: LockedBucket, signal: AbortSignal): Promise<TargetLock> {
  let seen: { readonly version: string; readonly atMs: number } | undefined;
  for (;;) {
    const newest = Math.max(0, ...(await listNumbers(bucket.s3)));
    const found = newest === 0 ? undefined : await readLock(bucket.s3, newest);
    if (!found || found.isReleased) return takeLock(bucket, newest + 1);
    const version = `${found.token} ${found.renewals}`;
    if (seen && seen.version !== version) throw inUse(bucket, found);
    seen ??= { version, atMs: performance.now() };
    if (performance.now() - seen.atMs >= bucket.times.lease) return takeLock(bucket, newest + 1);
    await delay(bucket.times.poll, undefined, { signal });
  }
}

const inUse = ({ name }: LockedBucket, lock: LockContent | undefined): Error =>
  new TargetInUseError(
    `Another backup (${lock?.holder ?? 'unknown'}) is writing to ${name}. Wait for its end, or choose ` +
      'another prefix.',
  );

/** One of many processes that take the same number gets it. Numbers are never used again. */
async function takeLock(bucket: LockedBucket, number: number): Promise<TargetLock> {
  const { s3 } = bucket;
  const holder = `${hostname()}, process ${process.pid}`;
  const content = { token: randomUUID(), holder, renewals: 0, isReleased: false };
  await writeLock(s3, { number, content, isNew: true }).catch((error: unknown) => {
    if (!hasName(error, 'PreconditionFailed')) throw error;
  });
  // A response may be lost, and a store may ignore the condition.
  const taken = await readLock(s3, number);
  if (taken?.token !== content.token) throw inUse(bucket, taken);
  for (const older of (await listNumbers(s3)).filter((each) => each < number))
    await s3.run((options) => s3.client.send(new DeleteObjectCommand(s3.at(keyOf(older))), options));
  return keepLock(bucket, number, content);
}

async function listNumbers(s3: S3Connection): Promise<number[]> {
  const { Bucket, Key } = s3.at('lock' as ObjectKey);
  const command = new ListObjectsV2Command({ Bucket, Prefix: `${Key}/` });
  const { Contents = [] } = await s3.run((options) => s3.client.send(command, options));
  return Contents.map((object) => Number(object.Key?.slice(Key.length + 1)));
}

type LockWrite = { readonly number: number; readonly content: LockContent; readonly isNew?: boolean };

async function writeLock(s3: S3Connection, { number, content, isNew = false }: LockWrite): Promise<void> {
  const command = new PutObjectCommand({
    ...s3.at(keyOf(number)),
    ...(isNew && { IfNoneMatch: '*' }),
    Body: Buffer.from(JSON.stringify(content)),
  });
  await s3.run((options) => s3.client.send(command, options));
}

async function readLock(s3: S3Connection, number: number): Promise<LockContent | undefined> {
  const found = await openObject(s3, keyOf(number));
  const text = found && (await buffer(found.body)).toString();
  try {
    return text === undefined ? undefined : (JSON.parse(text) as LockContent);
  } catch {
    throw new Error('the endpoint does not speak S3, or another program wrote into the folder "lock"');
  }
}

function keepLock(bucket: LockedBucket, number: number, taken: LockContent): TargetLock {
  const { s3, name, times } = bucket;
  const losing = new AbortController();
  let content = taken;
  let renewedMs = performance.now();
  const renew = async () => {
    losing.signal.throwIfAborted();
    content = { ...content, renewals: content.renewals + 1 };
    await writeLock(s3, { number, content });
    if (Math.max(...(await listNumbers(s3))) > number)
      losing.abort(new TargetInUseError(`The lock of ${name} was lost to another backup`));
    losing.signal.throwIfAborted();
    renewedMs = performance.now();
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
      // A lock that cannot be released expires.
      await writeLock(s3, { number, content: { ...content, isReleased: true } }).catch(() => {});
    },
  };
}
