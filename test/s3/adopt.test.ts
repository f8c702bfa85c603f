// An operator adopts the objects of other buckets and prefixes at the same endpoint: the store copies them.
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import {
  CreateBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { originalPrefix, uploadKey } from '../../service/src/storage/object-key.ts';
import type { SourceObjects } from '../../service/src/storage/object-store.ts';
import { openS3ObjectStore, type S3ObjectStore } from '../../service/src/storage/s3-object-store.ts';
import { makeClip } from '../support/clips/clips.ts';
import { makeSmallPng } from '../support/encoding/processed-assets.ts';
import { expectRefusal, expectSuccess } from '../support/http/envelope.ts';
import { type AssetJson, settled } from '../support/media.ts';
import {
  asOperator,
  asUser,
  call,
  eventually,
  startTestService,
  type TestService,
} from '../support/service.ts';
import { completed, erase } from '../support/service/erasures.ts';
import { REMOVE_ORPHANS, runStorageCheck } from '../support/service/storage-check.ts';
import { createBucket, describeS3, type TestBucket } from '../support/store/s3.ts';

const MIB = 1024 ** 2;
const FILM = "2024/It's (1) größer+.mp4";
const sha256Of = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const toUrl = (bucket: string, key: string) =>
  `s3://${bucket}/${key.split('/').map(encodeURIComponent).join('/')}`;

describeS3('objects of an operator', () => {
  let own: TestBucket;
  let films: string;
  beforeAll(async () => {
    own = await createBucket();
    films = `films-${randomUUID()}`;
    await own.client.send(new CreateBucketCommand({ Bucket: films }));
  });

  const put = async (Key: string, Body: Buffer | string, more: { readonly Bucket?: string } = {}) => {
    const { Bucket = films } = more;
    await own.client.send(new PutObjectCommand({ Key, Body, ...more, Bucket }));
    return toUrl(Bucket, Key);
  };
  const exists = (Key: string, Bucket = films): Promise<boolean> =>
    own.client.send(new HeadObjectCommand({ Bucket, Key })).then(
      () => true,
      () => false,
    );

  describe('in a store', () => {
    let store: S3ObjectStore;
    let sources: SourceObjects;
    beforeAll(() => {
      const places = [`${films}/`, `${own.location.bucket}/`];
      const opened = openS3ObjectStore(own.location, { sources: places, maxWholeBytes: 4 * MIB });
      if (!opened.sources) throw new Error('the store has no sources');
      [store, sources] = [opened, opened.sources];
    });
    afterAll(() => store?.close());

    const { signal } = new AbortController();
    const newKey = () => uploadKey(randomUUID(), randomUUID());
    const reasonOf = (work: Promise<unknown>) => expect(work).rejects;

    test('of another bucket and of another prefix are copied, without their metadata', async () => {
      const content = randomBytes(3 * MIB);
      const more = { ContentType: 'video/mp4', ContentEncoding: 'identity', Metadata: { secret: 'x' } };
      for (const Bucket of [films, own.location.bucket]) {
        const source = await sources.find(await put(FILM, content, { ...more, Bucket }));
        expect(source).toMatchObject({ sizeBytes: content.length, contentType: 'video/mp4' });
        const to = newKey();
        const copied = await sources.copy(source, { to, isMove: false, signal });
        expect(copied).toEqual({ sizeBytes: content.length, version: source.version, sha256: null });
        expect(content.equals(Buffer.concat(await store.stream(to).toArray()))).toBe(true);
        const stored = await own.client.send(new HeadObjectCommand({ Bucket: own.location.bucket, Key: to }));
        expect(stored.Metadata).not.toHaveProperty('secret');
      }
    });

    test('that are large are copied in parts', async () => {
      const content = Buffer.concat([randomBytes(MIB), Buffer.alloc(65 * MIB), randomBytes(12_345)]);
      const source = await sources.find(await put('large.mp4', content));
      const to = newKey();
      await sources.copy(source, { to, isMove: false, signal });
      const digest = createHash('sha256');
      for await (const chunk of store.stream(to)) digest.update(chunk);
      expect(digest.digest('hex')).toBe(sha256Of(content));

      const [aborter, aborted] = [new AbortController(), newKey()];
      aborter.abort();
      const copying = sources.copy(source, { to: aborted, isMove: false, signal: aborter.signal });
      await expect(copying).rejects.toThrow();
      expect(await store.size(aborted)).toBeUndefined();
      await put('large.mp4', 'overwritten');
      await reasonOf(sources.copy(source, { to: aborted, isMove: false, signal })).toMatchObject({
        reason: 'source_changed',
      });
      const unfinished = new ListMultipartUploadsCommand({ Bucket: own.location.bucket });
      expect((await own.client.send(unfinished)).Uploads ?? []).toEqual([]);
    });

    test('that change are neither copied nor deleted', async () => {
      const url = await put('changing.mp4', 'first');
      const source = await sources.find(url);
      await put('changing.mp4', 'second');
      const to = newKey();
      await reasonOf(sources.copy(source, { to, isMove: true, signal })).toMatchObject({
        reason: 'source_changed',
      });
      expect(await store.size(to)).toBeUndefined();
      expect(await sources.remove(source)).toBe(false);
      expect(await sources.remove(await sources.find(url))).toBe(true);
      expect(await sources.remove(source)).toBe(false);
      expect(await exists('changing.mp4')).toBe(false);
    });

    test('that are not there, or belong to the service, are refused', async () => {
      await reasonOf(sources.find(toUrl(films, 'none.mp4'))).toMatchObject({ reason: 'source_missing' });
      await reasonOf(sources.find('s3://elsewhere/a.mp4')).toMatchObject({ reason: 'source_refused' });
      const key = newKey();
      await store.put(key, [Buffer.from('of an asset')], 20);
      const other = sources.find(toUrl(own.location.bucket, key));
      await reasonOf(other).toMatchObject({ reason: 'source_refused' });
    });
  });

  describe('in a service', () => {
    let service: TestService;
    let clip: Buffer;
    beforeAll(async () => {
      clip = await readFile(await makeClip({ seconds: 2 }));
      // An erasure would wait until the URLs of direct uploads have expired.
      const STORAGE_URL = `${(await createBucket()).url}&direct=false`;
      service = await startTestService({ STORAGE_URL, ADOPT_SOURCES: `s3://${films}/2024` });
    });
    afterAll(() => service?.stop());

    const request = (json: object) =>
      call<{ asset: AssetJson }>(service, 'POST /admin/adoptions', {
        headers: asOperator,
        json: { owner_user_id: 'ann', ...json },
      });
    const ready = async (json: object): Promise<AssetJson> => {
      const { asset } = expectSuccess<{ asset: AssetJson }>(await request(json));
      return settled(service, 'ann', asset.id);
    };

    test('become assets, and a moved one goes from its bucket', async () => {
      const kept = await ready({ source: await put(FILM, clip) });
      expect(kept).toMatchObject({
        ...{ stream_status: 'ready', size_bytes: clip.length, filename: "It's (1) größer+.mp4" },
        checksum_sha256: sha256Of(clip),
      });
      const moved = await ready({ source: await put('2024/moved.mp4', clip), delete_source: true });
      expect(moved).toMatchObject({ stream_status: 'ready', size_bytes: clip.length });
      await eventually(
        () => exists('2024/moved.mp4'),
        (isThere) => !isThere,
      );
      expect(await exists(FILM)).toBe(true);
      const path = `GET /media/${moved.id}/download-url`;
      const { url } = expectSuccess<{ url: string }>(await call(service, path, { headers: asUser('ann') }));
      expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(clip)).toBe(true);
      const wrong = { source: await put('2024/wrong.mp4', await makeSmallPng()), delete_source: true };
      expect(await ready(wrong)).toMatchObject({ failure: { code: 'type_mismatch' } });
      expect(await exists('2024/wrong.mp4'), 'what is refused stays').toBe(true);
      const outside = { source: await put('2023/outside.mp4', clip) };
      expect(expectRefusal(await request(outside), 400).details).toMatchObject({ reason: 'source_refused' });
    });

    test('leave nothing when their owner is erased', async () => {
      const { id } = await ready({ source: await put('2024/erased.mp4', clip), external_id: 'erased' });
      const erasure = await erase(service, 'ann');
      await completed(service, 'ann', erasure.id);
      const keys: string[] = [];
      for await (const key of service.adapters.store.list(originalPrefix(id))) keys.push(key);
      expect(keys).toEqual([]);
      expect(await exists('2024/erased.mp4')).toBe(true);
      expect((await runStorageCheck(service, REMOVE_ORPHANS)).findings).toEqual([]);
    });
  });
});
