// The SDK keeps collections: it fills, orders and reads them, for users and for back ends.
import { createMediary, isMediaryError, type Mediary } from '@mediary/client';
import { signAccessToken } from '@mediary/client/server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAssets } from '../../support/assets/collections.ts';
import { makeSmallPng } from '../../support/encoding/processed-assets.ts';
import { SECRETS, startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
let ann: Mediary;
let backend: Mediary;
beforeAll(async () => {
  service = await startTestService();
  const baseUrl = service.address;
  const token = () => signAccessToken({ secret: SECRETS.ACCESS_TOKEN_SECRET, userId: 'ann' });
  ann = createMediary({ baseUrl, token });
  backend = createMediary({ baseUrl, serviceKey: SECRETS.SERVICE_API_KEY }).forOwner('ann');
});
afterAll(() => service?.stop());

async function orderOf(mediary: Mediary, id: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const { asset } of mediary.collections.items(id, { limit: 2 })) ids.push(asset.id);
  return ids;
}

test('a collection is filled, ordered, read and deleted', async () => {
  for (const mediary of [ann, backend]) {
    const assets = await openAssets(service, 'ann', 3);
    const [a = '', b = '', c = ''] = assets;
    const { id } = await mediary.collections.create({ name: 'Launch week', visibility: 'public' });
    expect(await mediary.collections.add(id, [a, b])).toMatchObject({ changed_asset_ids: [a, b] });
    await mediary.collections.add(id, [c, a], { position: 'start' });
    expect(await orderOf(mediary, id)).toEqual([c, a, b]);
    await mediary.collections.move(id, c, { after: a });
    expect(await orderOf(mediary, id)).toEqual([a, c, b]);
    await mediary.collections.remove(id, a);
    expect(await mediary.collections.update(id, { name: 'Talks' })).toMatchObject({
      name: 'Talks',
      asset_count: 2,
    });
    const { items } = await mediary.collections.list({ limit: 1 }).page();
    expect(items).toEqual([await mediary.collections.get(id)]);
    expect((await mediary.media.get(b, { expand: 'collections' })).collections).toEqual([id]);
    expect(await mediary.collections.delete(id)).toEqual({ id, deleted: true });
    const error = await mediary.collections.get(id).catch((thrown: unknown) => thrown);
    expect(isMediaryError(error) && error.errorCode).toBe('NOT_FOUND');
  }
});

test('the playlist names the collection and its ready assets', async () => {
  const picture = new Blob([new Uint8Array(await makeSmallPng())], { type: 'image/png' });
  const asset = await ann.media.upload(picture, { filename: 'a.png', title: 'Red' });
  await ann.media.waitUntilReady(asset.id);
  const { id } = await ann.collections.create({ name: 'Pictures' });
  await ann.collections.add(id, [asset.id]);
  const playlist = await ann.collections.playlist(id).page();
  expect(playlist).toMatchObject({ name: 'Pictures', items: [{ asset_id: asset.id, title: 'Red' }] });
  expect((await fetch(playlist.items[0]?.image ?? '')).status).toBe(200);
});

test('an empty id is a mistake of the program', () => {
  expect(() => ann.collections.get('')).toThrow(TypeError);
  expect(() => ann.collections.remove('id', '')).toThrow(TypeError);
});
