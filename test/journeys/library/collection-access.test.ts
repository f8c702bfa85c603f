// Who may see and change a collection, and whose assets it takes (contract A4, B2).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  addItems,
  type CollectionJson,
  createCollection,
  type ItemsResult,
  openAssets,
  type OwnCollection,
  readOrder,
} from '../../support/assets/collections.ts';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import {
  asOperator,
  asService,
  asUser,
  call,
  startTestService,
  type TestService,
} from '../../support/service.ts';

let service: TestService;
let mine: OwnCollection;
let assets: string[];
beforeAll(async () => {
  service = await startTestService();
  assets = await openAssets(service, 'ann', 2);
  mine = { service, user: 'ann', id: (await createCollection(service, 'ann')).id };
  expectSuccess(await addItems(mine, assets.slice(0, 1)));
});
afterAll(() => service?.stop());

type Request = { readonly line: string; readonly json?: object; readonly isRead?: true };

const requests = (): readonly Request[] => {
  const path = `/collections/${mine.id}`;
  const item = `${path}/items/${assets[0]}`;
  return [
    { line: `GET ${path}`, isRead: true },
    { line: `GET ${path}/items`, isRead: true },
    { line: `GET ${path}/playlist`, isRead: true },
    { line: `PATCH ${path}`, json: { name: 'Films' } },
    { line: `POST ${path}/items`, json: { asset_ids: assets.slice(0, 1) } },
    { line: `PATCH ${item}`, json: { position: 'end' } },
    { line: `DELETE ${path}/items/${assets[1]}`, json: {} },
  ];
};

const send = ({ line, json }: Request, headers: Record<string, string>, named: object = {}) =>
  call(service, line, { headers, ...(json && { json: { ...json, ...named } }) });

describe('a collection', () => {
  test('is another user’s to nobody else', async () => {
    for (const request of requests()) {
      expectSuccess(await send(request, asUser('ann')));
      expectRefusal(await send(request, asUser('bob')), 403);
      expectRefusal(await send({ ...request, line: request.line.replace(mine.id, 'x') }, asUser('ann')), 404);
      const isViewer = request.line.endsWith('/playlist');
      expectRefusal(await send(request, {}), isViewer ? 404 : 401);
      expectRefusal(await send(request, { ...asUser('ann'), ...asService }), 401);
      expectRefusal(await send(request, asOperator), isViewer ? 404 : 401);
    }
    expectRefusal(await call(service, `DELETE /collections/${mine.id}`, { headers: asUser('bob') }), 403);
  });

  test('is changed by a service that names an owner', async () => {
    for (const request of requests()) {
      expectSuccess(await send(request, asService, { owner_user_id: 'ann' }));
      const unnamed = await send(request, asService);
      if (request.isRead) expectSuccess(unnamed);
      else expect(expectRefusal(unnamed, 400).details).toMatchObject({ field: 'owner_user_id' });
    }
    expectRefusal(await call(service, 'GET /collections', { headers: asService }), 400);
    const listed = await call<{ items: CollectionJson[] }>(service, 'GET /collections?owner_user_id=ann', {
      headers: asService,
    });
    expect(expectSuccess<{ items: CollectionJson[] }>(listed).items.map(({ id }) => id)).toEqual([mine.id]);
    const created = await call<CollectionJson>(service, 'POST /collections', {
      headers: asService,
      json: { name: 'By the back end', owner_user_id: 'zoe' },
    });
    const { id } = expectSuccess<CollectionJson>(created);
    expectRefusal(await call(service, `DELETE /collections/${id}`, { headers: asService }), 400);
    const removal = `DELETE /collections/${id}?owner_user_id=zoe`;
    expectSuccess(await call(service, removal, { headers: asService }));
  });

  test('takes assets of its owner alone', async () => {
    const [foreign = ''] = await openAssets(service, 'bob', 1);
    expectRefusal(await addItems(mine, [assets[1] ?? '', foreign]), 403);
    const byService = await call<ItemsResult>(service, `POST /collections/${mine.id}/items`, {
      headers: asService,
      json: { asset_ids: [foreign], owner_user_id: 'ann' },
    });
    expect(expectRefusal(byService, 400).details).toMatchObject({ reason: 'other_owner', asset_id: foreign });
    expect(await readOrder(mine)).toEqual(assets.slice(0, 1));
  });

  test('is not for upload tokens, nor for service keys of other owners', async () => {
    const token = await call<{ token: string }>(service, 'POST /upload-tokens', {
      headers: asService,
      json: { owner_user_id: 'ann' },
    });
    const asToken = { authorization: `Bearer ${expectSuccess<{ token: string }>(token).token}` };
    const key = await call<{ key: string }>(service, 'POST /admin/service-keys', {
      headers: asOperator,
      json: { name: 'shop', scopes: ['read', 'write'], owner_prefixes: ['shop_'] },
    });
    const asKey = { 'x-service-key': expectSuccess<{ key: string }>(key).key };
    for (const request of requests()) {
      expectRefusal(await send(request, asToken), 403);
      expectRefusal(await send(request, asKey, { owner_user_id: 'shop_1' }), 403);
    }
  });
});
