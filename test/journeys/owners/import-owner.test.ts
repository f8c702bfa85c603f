// An operator imports an exported owner after its erasure: the same assets under the same ids, made anew.
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { makeSmallPng } from '../../support/encoding/processed-assets.ts';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/http/webhook-receiver.ts';
import { type AssetJson, IMAGE, ingest, offer, readAsset, settled } from '../../support/media.ts';
import { exportOf, importTo, sha256Of } from '../../support/service/archives.ts';
import { runCli } from '../../support/service/cli.ts';
import { completed, erase } from '../../support/service/erasures.ts';
import {
  asOperator,
  asService,
  asUser,
  call,
  eventually,
  SECRETS,
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
}, 120_000);
afterAll(async () => {
  await service?.stop();
  await receiver?.stop();
});

/** A year ahead, without the fractions that a format might drop. */
const EXPIRES_AT = new Date(Math.ceil(Date.now() / 1000) * 1000 + 31_536_000_000).toISOString();

/** Returns the assets by what is special about them. */
async function fill() {
  const video = await ingest(service, ANN, {
    file: film,
    fields: { title: 'Film', tags: ['a', 'b'], metadata: { order: 1 }, visibility: 'public' },
  });
  const captioned = await ingest(service, ANN, { file: await makeClip({ seconds: 1 }) });
  expectSuccess(
    await call(service, `PUT /media/${captioned.id}/captions/en?label=English%20text&default=true`, {
      headers: { ...ann, 'content-type': 'text/vtt' },
      body: VTT,
    }),
  );
  const image = await offer(service, ANN, { bytes: png, fields: { ...IMAGE, title: 'Picture' } });
  const expiring = await offer(service, ANN, {
    bytes: Buffer.concat([png, Buffer.alloc(1)]),
    fields: { ...IMAGE, expires_at: EXPIRES_AT },
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

/** What a caller has said about an asset, and what follows from its bytes. */
const lasting = ({
  id,
  kind,
  filename,
  content_type,
  mime_type,
  title,
  tags,
  metadata,
  visibility,
  expires_at,
  size_bytes,
  checksum_sha256,
  duration_ms,
  width,
  height,
  version,
  created_at,
  uploaded_at,
}: AssetJson) => ({
  id,
  kind,
  filename,
  content_type,
  mime_type,
  title,
  tags,
  metadata,
  visibility,
  expires_at,
  size_bytes,
  checksum_sha256,
  duration_ms,
  width,
  height,
  version,
  created_at,
  uploaded_at,
});

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

test('an erased owner is restored: ids, details, captions, timelines, originals and playback', async () => {
  const ids = await fill();
  const alive = [ids.video, ids.captioned, ids.image, ids.expiring];
  const before = new Map<string, AssetJson>();
  for (const id of alive) before.set(id, await readAsset(service, ANN, id));
  const captions = await captionsOf(ids.captioned);
  const timeline = await timelineOf(ids.image);
  const archive = await exportOf(service, ANN);
  await completed(service, ANN, (await erase(service, ANN)).id);
  expect((await call(service, `GET /media/${ids.video}`, { headers: ann })).status).toBe(404);
  const endpoint = { url: receiver.url('/restored'), events: [] };
  expectSuccess(await call(service, 'POST /webhook-endpoints', { headers: asService, json: endpoint }));

  const imported = await importTo(service, ANN, archive);
  expect(imported.status, JSON.stringify(imported.body)).toBe(200);
  expect(imported.body.data).toMatchObject({
    owner_user_id: ANN,
    is_complete: true,
    problem: null,
    counts: { imported: 5, already_there: 0, refused: 0 },
  });
  expect(imported.body.data.items.map(({ asset_id: id }) => id).sort()).toEqual(Object.values(ids).sort());

  for (const id of alive) {
    const asset = await settled(service, ANN, id);
    expect(asset.failure).toBeNull();
    expect(lasting(asset)).toEqual(lasting(before.get(id) as AssetJson));
    expect(await downloaded(id)).toBe(asset['checksum_sha256']);
  }
  expect(await downloaded(ids.video)).toBe(sha256Of(await readFile(film)));
  expect(await play(ids.video)).toBeGreaterThan(0);
  expect(await play(ids.captioned)).toBeGreaterThan(0);
  expect(await captionsOf(ids.captioned)).toBe(captions);
  const list = await call<{ items: object[] }>(service, `GET /media/${ids.captioned}/captions`, {
    headers: ann,
  });
  expect(list.body.data.items).toMatchObject([{ language: 'en', label: 'English text', default: true }]);

  const after = await timelineOf(ids.image);
  expect(after.slice(0, timeline.length)).toEqual(timeline);
  expect(after[timeline.length]).toMatchObject({
    type: 'asset.processing',
    source: 'operator',
    attempt: 2,
    sentence: expect.stringContaining('An operator imported the asset from an archive'),
  });
  const isReady = ({ message }: { message: { type: string; asset_id: string | null } }) =>
    message.type === 'asset.ready' && message.asset_id === ids.image;
  const received = await eventually(
    async () => receiver.received('/restored'),
    (all) => all.some(isReady),
  );
  const types = received
    .filter(({ message }) => message.asset_id === ids.image)
    .map(({ message }) => message.type);
  expect(types).toEqual(['asset.processing', 'asset.playable', 'asset.ready']);
}, 240_000);

test('an asset that was in the trash is there again, and is processed when it is restored', async () => {
  const trash = await call<{ items: AssetJson[] }>(service, 'GET /media?deleted=true', { headers: ann });
  const [trashed, ...others] = trash.body.data.items;
  expect(others).toEqual([]);
  const { id } = trashed as AssetJson;
  expect(trashed).toMatchObject({ stream_status: 'processing', deleted_at: expect.any(String) });
  expectSuccess(await call(service, `POST /media/${id}/restore`, { headers: ann }));
  expect(await settled(service, ANN, id)).toMatchObject({ stream_status: 'ready', deleted_at: null });
}, 60_000);

test('the same archive again changes nothing', async () => {
  const archive = await exportOf(service, ANN);
  const before = await call<{ items: AssetJson[] }>(service, 'GET /media', { headers: ann });
  const again = await importTo(service, ANN, archive);
  expect(again.body.data.counts).toEqual({ imported: 0, already_there: 5, refused: 0 });
  expect(again.body.data.is_complete).toBe(true);
  const after = await call<{ items: AssetJson[] }>(service, 'GET /media', { headers: ann });
  expect(after.body.data.items).toEqual(before.body.data.items);
}, 60_000);

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
  expect(first.body.data).toMatchObject({ is_complete: true, counts: { imported: 3 } });
  expect(expectRefusal(second, 503).details).toMatchObject({ reason: 'busy' });
  const { body } = await call<{ items: object[] }>(service, 'GET /media', { headers: asUser(owner) });
  expect(body.data.items).toHaveLength(3);
}, 120_000);

test('the command imports the archive that it has saved, and fails where the report names a problem', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-import-'));
  const env = { MEDIARY_URL: service.address, MEDIARY_OPERATOR_KEY: SECRETS.OPERATOR_KEY };
  const cli = (...args: string[]) => runCli(args, { folder, env });
  const { id } = await offer(service, 'carla', { bytes: png, fields: IMAGE });
  await settled(service, 'carla', id);
  expect(await cli('owners', 'export', 'carla', '-o', 'carla.tar')).toMatchObject({ code: 0 });
  await completed(service, 'carla', (await erase(service, 'carla')).id);
  const imported = await cli('owners', 'import', 'carla.tar');
  expect(imported, imported.stderr).toMatchObject({ code: 0 });
  expect(imported.stdout).toMatch(/^owner +carla\ncomplete +yes\nimported +1\n/);
  const json = await cli('owners', 'import', 'carla.tar', '--json');
  expect(JSON.parse(json.stdout)).toMatchObject({ counts: { already_there: 1 } });

  await settled(service, 'carla', id);
  expectSuccess(await call(service, `DELETE /media/${id}`, { headers: asUser('carla') }));
  const deleted = await cli('owners', 'import', 'carla.tar');
  expect(deleted).toMatchObject({ code: 1, stdout: expect.stringContaining('asset_deleted') });
  await truncate(join(folder, 'carla.tar'), 3000);
  expect(await cli('owners', 'import', 'carla.tar')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The archive ends early'),
  });
  await writeFile(join(folder, 'other.tar'), 'hello');
  expect(await cli('owners', 'import', 'other.tar')).toMatchObject({ code: 2 });
  expect(await cli('owners', 'import', 'missing.tar')).toMatchObject({ code: 2 });
  await rm(folder, { recursive: true });
}, 60_000);

test('only operators import, and not while the owner is being erased', async () => {
  const archive = await exportOf(service, 'nobody');
  for (const headers of [asService, ann, {}]) {
    const answer = await call(service, 'POST /admin/owners/nobody/import', { headers, body: archive });
    expect(answer.status).toBe(401);
  }
  const held = await offer(service, 'held', { bytes: png, fields: IMAGE });
  await settled(service, 'held', held.id);
  const hold = `/admin/media/${held.id}/legal-hold`;
  expectSuccess(await call(service, `PUT ${hold}`, { headers: asOperator }));
  const saved = await exportOf(service, 'held');
  const erasure = await erase(service, 'held');
  const refusal = expectRefusal(await importTo(service, 'held', saved), 409);
  expect(refusal.details).toMatchObject({ reason: 'owner_is_being_erased' });
  expectSuccess(await call(service, `DELETE ${hold}`, { headers: asOperator }));
  await completed(service, 'held', erasure.id);
  expect((await importTo(service, 'held', saved)).body.data.counts).toMatchObject({ imported: 1 });
  const asset = await call<AssetJson>(service, `GET /media/${held.id}`, { headers: asService });
  expect(asset.body.data).toMatchObject({ legal_hold: true });
}, 120_000);
