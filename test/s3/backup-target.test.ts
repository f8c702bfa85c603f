// A bucket as a backup target: the contract of the port, its lock, and what it says about wrong settings.
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import {
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { backupTargetContract } from '../../service/src/storage/backup/backup-target.contract.ts';
import { openS3BackupTarget } from '../../service/src/storage/backup/s3-backup-target.ts';
import type { BackupTarget } from '../../service/src/storage/backup-target.ts';
import { inChunks, MIB } from '../../service/src/storage/object-store.fixture.ts';
import type { S3Location } from '../../service/src/storage/storage-url.ts';
import { freePort } from '../support/http/free-port.ts';
import { ACCESS_KEY, SECRET_KEY } from '../support/store/ceph-rgw.ts';
import { createBucket, describeS3, type TestBucket } from '../support/store/s3.ts';

/** In milliseconds. */
const FAST = { lease: 1500, renew: 300, poll: 50 };
const none = new AbortController().signal;

function open(location: S3Location, lock = FAST): BackupTarget {
  const credentials = { accessKeyId: ACCESS_KEY, secretAccessKey: SECRET_KEY };
  return openS3BackupTarget({ location, credentials }, { lock });
}

describeS3('Ceph', () => {
  for (const [name, parameters] of [
    ['a bucket', ''],
    ['a folder of a bucket', '&prefix=backups/one'],
  ] as const) {
    let location: S3Location;
    backupTargetContract(name, {
      open: async () => {
        ({ location } = await createBucket({ parameters }));
        return open(location);
      },
      openAgain: () => open(location),
    });
  }

  describe('the lock of a bucket', () => {
    let bucket: TestBucket;
    beforeAll(async () => {
      bucket = await createBucket();
    });

    test('is renewed for as long as a backup takes', async () => {
      const held = await open(bucket.location).lock(none);
      await delay(2 * FAST.lease);
      await expect(open(bucket.location).lock(none)).rejects.toThrow(/^Another backup \(.+, process \d+\)/);
      await held.assertHeld();
      await held.release();
    });

    test('of a killed process is taken over, and a frozen one learns that it lost it', async () => {
      const frozen = await open(bucket.location, { ...FAST, renew: 60_000 }).lock(none);
      const startedMs = performance.now();
      const next = await open(bucket.location).lock(none);
      expect(performance.now() - startedMs).toBeGreaterThanOrEqual(FAST.lease);
      await expect(frozen.assertHeld()).rejects.toThrow('was lost to another backup');
      expect(frozen.signal.aborted).toBe(true);
      await frozen.release();
      await next.assertHeld();
      await next.release();
    });

    test('of a killed process goes to one of many that wait for it', async () => {
      await open(bucket.location, { ...FAST, renew: 60_000 }).lock(none);
      const waiting = Array.from({ length: 5 }, () => open(bucket.location).lock(none));
      const results = await Promise.allSettled(waiting);
      const winners = results.filter((result) => result.status === 'fulfilled');
      expect(winners).toHaveLength(1);
      await winners[0]?.value.assertHeld();
      await winners[0]?.value.release();
    });

    test('removes the parts of killed backups, and no others', async () => {
      const at = { Bucket: bucket.location.bucket };
      for (const Key of ['objects/originals/a', 'database/ab', 'of/others'])
        await bucket.client.send(new CreateMultipartUploadCommand({ ...at, Key }));
      await (await open(bucket.location).lock(none)).release();
      const { Uploads = [] } = await bucket.client.send(new ListMultipartUploadsCommand(at));
      expect(Uploads.map(({ Key }) => Key)).toEqual(['of/others']);
    });
  });

  test('a list tells other bytes of the same size by their tag', async () => {
    const bucket = await createBucket();
    const [target, path] = [open(bucket.location), `objects/originals/${randomUUID()}`];
    const tagOf = async () => {
      for await (const { tag } of target.list('objects')) return tag;
      throw new Error('nothing is listed');
    };
    await target.write({ path, sizeBytes: MIB }, inChunks(randomBytes(MIB), MIB));
    const before = await tagOf();
    const damage = { Bucket: bucket.location.bucket, Key: path, Body: randomBytes(MIB) };
    await bucket.client.send(new PutObjectCommand(damage));
    expect(before).toMatch(/./);
    expect(await tagOf()).not.toBe(before);
  });

  test.for(['../etc/passwd', 'objects//a', 'objects/../a', '/objects', '', 'objects/.a'])(
    'the path "%s" is refused',
    async (path) => {
      const target = open((await createBucket()).location);
      await expect(target.write({ path, sizeBytes: 1 }, inChunks(Buffer.from('x'), 1))).rejects.toThrow(
        'is not a file of a backup',
      );
    },
  );

  describe('says what is wrong', () => {
    let location: S3Location;
    beforeAll(async () => {
      ({ location } = await createBucket());
    });

    const failureOf = (changed: Partial<S3Location>, secretAccessKey = SECRET_KEY) => {
      const access = { location: { ...location, ...changed } };
      const target = openS3BackupTarget({
        ...access,
        credentials: { accessKeyId: ACCESS_KEY, secretAccessKey },
      });
      return expect(target.lock(none).finally(target.close)).rejects;
    };

    test('with the name of the bucket', async () => {
      const bucket = `missing-${randomUUID()}`;
      await failureOf({ bucket }).toThrow(
        `The backup target s3://${bucket} does not work: the bucket does not exist`,
      );
    });
    test('with the credentials', () => failureOf({}, 'wrong').toThrow('the secret key is wrong'));
    test('with the port of the endpoint', async () =>
      failureOf({ endpoint: `http://127.0.0.1:${await freePort()}` }).toThrow(
        'nothing listens at the endpoint (ECONNREFUSED)',
      ));
    test('with the host of the endpoint', () =>
      failureOf({ endpoint: 'http://nothing.invalid' }).toThrow('the host name of the endpoint'));
    test('where the endpoint is a web server', async () =>
      failureOf({ endpoint: await respondWith(200, '<html><body>Welcome</body></html>') }).toThrow(
        'the endpoint does not speak S3',
      ));
    test('with the clock of the machine', async () =>
      failureOf({ endpoint: await respondWith(403, SKEWED) }).toThrow(
        'the clocks of this machine and of the store differ too much',
      ));
    test('where the credentials may not write', async () =>
      failureOf({ endpoint: await respondWith(403, DENIED) }).toThrow(
        'the credentials do not have this right',
      ));
  });
});

const errorOf = (code: string) =>
  `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>refused</Message></Error>`;
const SKEWED = errorOf('RequestTimeTooSkewed');
const DENIED = errorOf('AccessDenied');

/** A server that answers every request in the same way. */
async function respondWith(status: number, body: string): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      response.writeHead(status, { 'content-type': 'application/xml' }).end(body);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
