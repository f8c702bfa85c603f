// The same bytes twice: an asset names the earlier one of its owner, and an upload can be saved (contract B1,
// B4).
import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { expectFieldRefused, expectSuccess } from '../../support/http/envelope.ts';
import {
  complete,
  IMAGE,
  offer,
  openUpload,
  putBytes,
  readAsset,
  type Started,
  VIDEO,
} from '../../support/media.ts';
import {
  type Answer,
  asService,
  asUser,
  call,
  startTestService,
  type TestService,
} from '../../support/service.ts';

let service: TestService;
let clip: Buffer;
beforeAll(async () => {
  service = await startTestService({ OWNER_MAX_ASSETS: '4' });
  clip = await readFile(await makeClip());
});
afterAll(() => service.stop());

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const newUser = () => `user-${randomUUID()}`;
/** Other bytes of the same film. */
const otherClip = async () => readFile(await makeClip({ audio: false }));

/** Uploads and completes the clip. */
async function upload(user: string, bytes: Uint8Array = clip): Promise<string> {
  const { id, completed } = await offer(service, user, { bytes });
  expectSuccess(completed);
  return id;
}
const duplicateOf = async (user: string, id: string) => (await readAsset(service, user, id))['duplicate_of'];
const remove = async (user: string, id: string) =>
  expectSuccess(await call(service, `DELETE /media/${id}`, { headers: asUser(user) }));

describe('duplicate_of', () => {
  test('is the earliest other asset of the owner with the same bytes, from the upload on', async () => {
    const user = newUser();
    const first = await upload(user);
    expect(await duplicateOf(user, first)).toBeNull();
    const started = await openUpload(service, user);
    expect(started.asset['duplicate_of']).toBeNull();
    expect(expectSuccess(await putBytes(started, clip))).toMatchObject({ duplicate_of: first });
    expect((await complete(service, user, started.asset_id)).body.data).toMatchObject({
      duplicate_of: first,
    });
    expect(await duplicateOf(user, await upload(user))).toBe(first);
    expect(await duplicateOf(user, await upload(user, await otherClip()))).toBeNull();
  });

  test('never names an asset of another owner', async () => {
    await upload(newUser());
    const user = newUser();
    expect(await duplicateOf(user, await upload(user))).toBeNull();
  });

  test('never names a deleted or a rejected asset, but stays when its asset is deleted', async () => {
    const user = newUser();
    const first = await upload(user);
    const second = await upload(user);
    await remove(user, first);
    expect(await duplicateOf(user, second)).toBe(first);
    await remove(user, second);
    const rejected = await offer(service, user, { bytes: clip, fields: IMAGE });
    expect(rejected.completed.status).toBe(400);
    expect(await duplicateOf(user, await upload(user))).toBeNull();
  });
});

describe('deduplicate=true', () => {
  const ask = (headers: Record<string, string>, json: object): Promise<Answer<Started>> =>
    call<Started>(service, 'POST /media/upload-url?deduplicate=true&expand=asset', {
      headers,
      json: { ...VIDEO, ...json },
    });
  const announced = () => ({ checksum_sha256: sha256(clip).toUpperCase() });

  test('names the asset that has the bytes, creates nothing and counts nothing', async () => {
    const user = newUser();
    const id = await upload(user);
    for (let count = 0; count < 5; count++) {
      const answer = await ask(asUser(user), { ...announced(), size_bytes: clip.length, title: 'Again' });
      expect(expectSuccess(answer)).toEqual({
        asset_id: id,
        asset: expect.objectContaining({ id, title: null, duplicate_of: null }),
        upload_url: null,
        is_existing: true,
        upload: null,
        alternatives: [],
      });
    }
    const list = await call<{ items: object[] }>(service, 'GET /media', { headers: asUser(user) });
    expect(list.body.data.items).toHaveLength(1);
  });

  test('creates an asset for other bytes, another size, and bytes that are not complete', async () => {
    const user = newUser();
    const pending = await openUpload(service, user);
    await putBytes(pending, clip);
    const isNew = async (json: object) => {
      const opened = expectSuccess(await ask(asUser(user), json));
      expect(opened).toMatchObject({ is_existing: false, upload: { url: expect.any(String) } });
      expect(opened['asset_id']).not.toBe(pending.asset_id);
    };
    await isNew(announced());
    expectSuccess(await complete(service, user, pending.asset_id));
    await isNew({ ...announced(), size_bytes: clip.length + 1 });
    await isNew({ checksum_sha256: 'a'.repeat(64) });
  });

  test('creates an asset where the other one is deleted or belongs to another owner', async () => {
    const user = newUser();
    const id = await upload(user);
    expect(expectSuccess(await ask(asUser(newUser()), announced()))).toMatchObject({ is_existing: false });
    await remove(user, id);
    expect(expectSuccess(await ask(asUser(user), announced()))).toMatchObject({ is_existing: false });
  });

  test('needs a checksum, and a type that the bytes can have', async () => {
    const user = newUser();
    await upload(user);
    expectFieldRefused(await ask(asUser(user), {}), 'checksum_sha256');
    expectFieldRefused(await ask(asUser(user), { ...IMAGE, ...announced() }), 'mime_type');
  });

  test('looks at the assets of the owner that a service call names', async () => {
    const user = newUser();
    const id = await upload(user);
    const asked = (owner_user_id: string) => ask(asService, { ...announced(), owner_user_id });
    expect(expectSuccess(await asked(user))).toMatchObject({ asset_id: id, is_existing: true });
    expect(expectSuccess(await asked(newUser()))).toMatchObject({ is_existing: false });
    expectFieldRefused(await ask(asService, announced()), 'owner_user_id');
  });

  test('gives the same answer again for an Idempotency-Key, also after new uploads', async () => {
    const user = newUser();
    const headers = { ...asUser(user), 'idempotency-key': randomUUID() };
    const opened = expectSuccess(await ask(headers, announced()));
    expect(opened).toMatchObject({ is_existing: false });
    await upload(user);
    expect(expectSuccess(await ask(headers, announced()))).toEqual(opened);
  });

  test('must be true or false', async () => {
    const json = { ...VIDEO, ...announced() };
    const headers = asUser(newUser());
    expectFieldRefused(
      await call(service, 'POST /media/upload-url?deduplicate=maybe', { headers, json }),
      'deduplicate',
    );
    const answer = await call(service, 'POST /media/upload-url?deduplicate=false', { headers, json: VIDEO });
    expect(expectSuccess(answer)).toMatchObject({ is_existing: false });
  });
});
