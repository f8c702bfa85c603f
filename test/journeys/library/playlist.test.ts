// Viewers read the playlist of a public collection, and its owner every asset with signed URLs.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addItems, createCollection, type OwnCollection } from '../../support/assets/collections.ts';
import { makeSmallPng } from '../../support/encoding/processed-assets.ts';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { IMAGE, offer, openUpload, settled } from '../../support/media.ts';
import { asService, asUser, call, startTestService, type TestService } from '../../support/service.ts';

type PlaylistJson = {
  items: {
    asset_id: string;
    title: string | null;
    poster: string;
    image: string;
    expires_at: string | null;
  }[];
  next_cursor: string | null;
};

let service: TestService;
let collection: OwnCollection;
let hidden: string;
let shown: string;
beforeAll(async () => {
  service = await startTestService();
  const bytes = await makeSmallPng();
  hidden = (await offer(service, 'ann', { bytes, fields: { ...IMAGE, title: 'Hidden' } })).id;
  shown = (await offer(service, 'ann', { bytes, fields: { ...IMAGE, title: 'Shown', visibility: 'public' } }))
    .id;
  const { asset_id: open } = await openUpload(service, 'ann', { ...IMAGE, visibility: 'public' });
  for (const id of [hidden, shown]) await settled(service, 'ann', id);
  collection = { service, user: 'ann', id: (await createCollection(service, 'ann')).id };
  expectSuccess(await addItems(collection, [shown, open, hidden]));
});
afterAll(() => service?.stop());

const read = (headers: Record<string, string>, query = '') =>
  call<PlaylistJson>(service, `GET /collections/${collection.id}/playlist${query}`, { headers });
const show = async (visibility: string) =>
  expectSuccess(
    await call(service, `PATCH /collections/${collection.id}`, {
      headers: asUser('ann'),
      json: { visibility },
    }),
  );
const idsOf = ({ items }: PlaylistJson) => items.map((item) => item.asset_id);

test('the owner and services get the ready assets in order, with URLs that work as they are', async () => {
  for (const headers of [asUser('ann'), asService]) {
    const playlist = expectSuccess<PlaylistJson>(await read(headers));
    expect(idsOf(playlist)).toEqual([shown, hidden]);
    expect(playlist.items[0]?.expires_at).toBeNull();
    expect(playlist.items[1]?.expires_at).not.toBeNull();
    for (const { poster, image } of playlist.items)
      for (const url of [poster, image]) expect((await fetch(url)).status).toBe(200);
  }
});

test('a private collection is for its owner, and a public one shows others its public assets', async () => {
  expectRefusal(await read({}), 404);
  expectRefusal(await read(asUser('bob')), 403);
  await show('public');
  for (const headers of [{}, asUser('bob')]) {
    const playlist = expectSuccess<PlaylistJson>(await read(headers));
    expect(playlist).toMatchObject({ id: collection.id, name: 'Films', visibility: 'public' });
    expect(playlist).not.toHaveProperty('owner_user_id');
    expect(idsOf(playlist)).toEqual([shown]);
    expect(playlist.items[0]).toMatchObject({ title: 'Shown', expires_at: null });
  }
  expect(idsOf(expectSuccess<PlaylistJson>(await read(asUser('ann'))))).toEqual([shown, hidden]);
  // Everything else of it stays with its owner.
  expectRefusal(await call(service, `GET /collections/${collection.id}`), 401);
  await show('private');
  expectRefusal(await read({}), 404);
});

test('invalid credentials are refused instead of taken for none', async () => {
  await show('public');
  expectRefusal(await read({ authorization: 'Bearer none' }), 401);
  expectRefusal(await read({ 'x-service-key': 'wrong' }), 401);
});

test('a playlist has pages, and is sent again only when it has changed', async () => {
  const first = expectSuccess<PlaylistJson>(await read(asUser('ann'), '?limit=1'));
  expect(idsOf(first)).toEqual([shown]);
  const query = `?limit=1&cursor=${first.next_cursor}`;
  const second = expectSuccess<PlaylistJson>(await read(asUser('ann'), query));
  expect([idsOf(second), second.next_cursor]).toEqual([[hidden], null]);
  // The cursor of the owner is none of a viewer.
  await show('public');
  expectRefusal(await read({}, query), 400);

  const { headers } = await read({});
  const again = { 'if-none-match': headers.get('etag') ?? '' };
  const url = `${service.url}/collections/${collection.id}/playlist`;
  expect((await fetch(url, { headers: again })).status).toBe(304);
  const title = { headers: asUser('ann'), json: { title: 'New' } };
  expectSuccess(await call(service, `PATCH /media/${shown}`, title));
  expect(expectSuccess<PlaylistJson>(await read(again)).items[0]?.title).toBe('New');
});

test('an asset in the trash leaves the playlist, and no expired one is in it', async () => {
  const at = new Date(Date.now() + 1500).toISOString();
  const expiring = { headers: asUser('ann'), json: { expires_at: at } };
  expectSuccess(await call(service, `PATCH /media/${hidden}`, expiring));
  expectSuccess(await call(service, `DELETE /media/${shown}?trash=true`, { headers: asUser('ann') }));
  await expect.poll(async () => idsOf(expectSuccess<PlaylistJson>(await read(asUser('ann'))))).toEqual([]);
});
