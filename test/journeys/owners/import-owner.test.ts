// An operator imports an exported owner after its erasure: the same assets under the same ids, made anew.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { makeSmallPng } from '../../support/encoding/processed-assets.ts';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/http/webhook-receiver.ts';
import { type AssetJson, IMAGE, ingest, offer, readAsset, settled } from '../../support/media.ts';
import { exportOf, type ImportJson, importTo, sha256Of } from '../../support/service/archives.ts';
import { completed, erase } from '../../support/service/erasures.ts';
import {
  asService,
  asUser,
  call,
  eventually,
  startTestService,
  type TestService,
} from '../../support/service.ts';

const ANN = 'ann/of home';
const ann = asUser(ANN);
const VTT = 'WEBVTT\n\n00:00.000 --> 00:01.000 align:left\nTea & <i>cake</i>\n';

let service: TestService;
let receiver: WebhookReceiver;
let film: string;
let png: Buffer;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  service = await startTestService({ OUTBOUND_ALLOW_PRIVATE: 'webhooks' }, { isStoreDirect: false });
  film = await makeClip({ seconds: 2 });
  png = await makeSmallPng();
});
afterAll(async () => {
  await service?.stop();
  await receiver?.stop();
});

/** A year ahead, without the fractions that a format might drop. */
const EXPIRES_AT = new Date(Math.ceil(Date.now() / 1000) * 1000 + 31_536_000_000).toISOString();

const PICTURE = { ...IMAGE, title: 'Picture', focal_point: { x: 0.25, y: 1 } };

/** Returns the assets by what is special about them. */
async function fill() {
  const video = await ingest(service, ANN, {
    file: film,
    fields: {
      title: 'Film',
      tags: ['a', 'b'],
      metadata: { order: 1 },
      external_id: 'film-1',
      chapters: [{ start_ms: 500, title: 'Half' }],
      visibility: 'public',
    },
  });
  const captioned = await ingest(service, ANN, { file: await makeClip({ seconds: 1 }) });
  expectSuccess(
    await call(service, `PUT /media/${captioned.id}/captions/en?label=English%20text&default=true`, {
      headers: { ...ann, 'content-type': 'text/vtt' },
      body: VTT,
    }),
  );
  const image = await offer(service, ANN, { bytes: png, fields: PICTURE });
  const expiring = await offer(service, ANN, {
    bytes: Buffer.concat([png, Buffer.alloc(1)]),
    fields: { ...IMAGE, expires_at: EXPIRES_AT, access: { networks: ['127.0.0.0/8'] } },
  });
  const trashed = await offer(service, ANN, { bytes: Buffer.concat([png, Buffer.alloc(2)]), fields: IMAGE });
  for (const { id } of [image, expiring, trashed]) await settled(service, ANN, id);
  const renamed = await call(service, `PATCH /media/${image.id}`, {
    headers: ann,
    json: { title: 'Renamed' },
  });
  expectSuccess(renamed);
  expectSuccess(await call(service, `DELETE /media/${trashed.id}?trash=true`, { headers: ann }));
  return {
    video: video.id,
    captioned: captioned.id,
    image: image.id,
    expiring: expiring.id,
    trashed: trashed.id,
  };
}

const LASTING = [
  ...[
    'id',
    'kind',
    'filename',
    'content_type',
    'mime_type',
    'title',
    'tags',
    'metadata',
    'external_id',
    'visibility',
  ],
  ...['expires_at', 'size_bytes', 'checksum_sha256', 'duration_ms', 'width', 'height', 'version'],
  ...['created_at', 'uploaded_at', 'focal_point', 'access', 'chapters'],
];

/** What a caller has said about an asset, and what follows from its bytes. */
const lasting = (asset: AssetJson) => LASTING.map((member) => [member, asset[member]]);

async function downloaded(id: string): Promise<string> {
  const { body } = await call<{ url: string }>(service, `GET /media/${id}/download-url`, { headers: ann });
  const response = await fetch(body.data.url);
  expect(response.status).toBe(200);
  return sha256Of(new Uint8Array(await response.arrayBuffer()));
}

/** The first segment of the first rendition, as a player finds it. */
async function play(id: string): Promise<number> {
  const { body } = await call<{ hls: string }>(service, `GET /media/${id}/playback`, { headers: ann });
  const follow = async (url: string) => {
    const response = await fetch(url);
    expect(response.status, url).toBe(200);
    const next = (await response.text()).split('\n').find((line) => line && !line.startsWith('#'));
    return new URL(next ?? '', response.url).href;
  };
  const segment = await fetch(await follow(await follow(body.data.hls)));
  expect(segment.status).toBe(200);
  return (await segment.arrayBuffer()).byteLength;
}

const captionsOf = async (id: string): Promise<string> =>
  (await fetch(`${service.url}/media/${id}/captions/en`, { headers: ann })).text();

type TimelineJson = { items: { id: string; type: string; sentence: string }[] };

async function timelineOf(id: string): Promise<TimelineJson['items']> {
  const answer = await call<TimelineJson>(service, `GET /media/${id}/timeline?limit=200`, { headers: ann });
  return answer.body.data.items;
}

type Kept = {
  readonly assets: readonly AssetJson[];
  readonly captions: string;
  readonly timeline: unknown[];
};
let ids: Awaited<ReturnType<typeof fill>>;
let kept: Kept;

test('an import of an erased owner restores every asset under its id', async () => {
  ids = await fill();
  const alive = [ids.video, ids.captioned, ids.image, ids.expiring];
  kept = {
    assets: await Promise.all(alive.map((id) => readAsset(service, ANN, id))),
    captions: await captionsOf(ids.captioned),
    timeline: await timelineOf(ids.image),
  };
  const archive = await exportOf(service, ANN);
  await completed(service, ANN, (await erase(service, ANN)).id);
  expect((await call(service, `GET /media/${ids.video}`, { headers: ann })).status).toBe(404);
  const endpoint = { url: receiver.url('/restored'), events: [] };
  expectSuccess(await call(service, 'POST /webhook-endpoints', { headers: asService, json: endpoint }));

  const report = expectSuccess<ImportJson>(await importTo(service, ANN, archive));
  expect(report).toMatchObject({
    owner_user_id: ANN,
    is_complete: true,
    problem: null,
    counts: { imported_count: 5, already_there_count: 0, refused_count: 0 },
  });
  expect(report.items.map(({ asset_id: id }) => id).sort()).toEqual(Object.values(ids).sort());
});

test('restored assets become ready, with the same details and originals', async () => {
  for (const before of kept.assets) {
    const asset = await settled(service, ANN, before.id);
    expect(asset).toMatchObject({ stream_status: 'ready', failure: null });
    expect(lasting(asset)).toEqual(lasting(before));
    expect(await downloaded(before.id)).toBe(before['checksum_sha256']);
  }
  expect(await downloaded(ids.video)).toBe(sha256Of(await readFile(film)));
  expect(await play(ids.video)).toBeGreaterThan(0);
  expect(await play(ids.captioned)).toBeGreaterThan(0);
});

test('captions are the same, byte for byte', async () => {
  expect(await captionsOf(ids.captioned)).toBe(kept.captions);
  const path = `GET /media/${ids.captioned}/captions`;
  const { items } = expectSuccess(await call(service, path, { headers: ann }));
  expect(items).toMatchObject([{ language: 'en', label: 'English text', default: true }]);
});

test('the timeline goes on, and endpoints get only what is new', async () => {
  const after = await timelineOf(ids.image);
  expect(after.slice(0, kept.timeline.length)).toEqual(kept.timeline);
  expect(after[kept.timeline.length]).toMatchObject({
    type: 'asset.processing',
    source: 'operator',
    attempt: 2,
    sentence: expect.stringContaining('An operator imported the asset from an archive'),
  });
  const typesOf = (id: string) =>
    receiver
      .received('/restored')
      .filter(({ message }) => message.asset_id === id)
      .map(({ message }) => message.type);
  const received = await eventually(
    async () => typesOf(ids.image),
    (types) => types.includes('asset.ready'),
  );
  expect(received).toEqual(['asset.processing', 'asset.playable', 'asset.ready']);
  expect(typesOf(ids.trashed)).toEqual(['asset.deleted']);
});

test('an asset that was in the trash is there again, and is processed when it is restored', async () => {
  const trash = await call<{ items: AssetJson[] }>(service, 'GET /media?deleted=true', { headers: ann });
  const [trashed, ...others] = trash.body.data.items;
  expect(others).toEqual([]);
  const { id } = trashed as AssetJson;
  expect(trashed).toMatchObject({ stream_status: 'processing', deleted_at: expect.any(String) });
  expectSuccess(await call(service, `POST /media/${id}/restore`, { headers: ann }));
  expect(await settled(service, ANN, id)).toMatchObject({ stream_status: 'ready', deleted_at: null });
});

test('the same archive again changes nothing', async () => {
  const archive = await exportOf(service, ANN);
  const before = await call<{ items: AssetJson[] }>(service, 'GET /media', { headers: ann });
  const again = await importTo(service, ANN, archive);
  expect(again.body.data.counts).toEqual({ imported_count: 0, already_there_count: 5, refused_count: 0 });
  expect(again.body.data.is_complete).toBe(true);
  const after = await call<{ items: AssetJson[] }>(service, 'GET /media', { headers: ann });
  expect(after.body.data.items).toEqual(before.body.data.items);
});

test('two imports at once: one is told to wait, and every asset is there once', async () => {
  const owner = 'twice';
  for (let nth = 0; nth < 3; nth++) {
    const { id } = await offer(service, owner, {
      bytes: Buffer.concat([png, Buffer.alloc(nth)]),
      fields: IMAGE,
    });
    await settled(service, owner, id);
  }
  const archive = await exportOf(service, owner);
  await completed(service, owner, (await erase(service, owner)).id);
  const answers = await Promise.all([importTo(service, owner, archive), importTo(service, owner, archive)]);
  const [first, second] = answers.toSorted((a, b) => a.status - b.status) as typeof answers;
  expect(first.body.data).toMatchObject({ is_complete: true, counts: { imported_count: 3 } });
  expect(expectRefusal(second, 503).details).toMatchObject({ reason: 'busy' });
  const { body } = await call<{ items: object[] }>(service, 'GET /media', { headers: asUser(owner) });
  expect(body.data.items).toHaveLength(3);
});
