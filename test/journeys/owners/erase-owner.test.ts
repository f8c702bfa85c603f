// An operator erases an owner: nothing that names it or its assets stays, except the signed receipt.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { makeSmallPng } from '../../support/encoding/processed-assets.ts';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/http/webhook-receiver.ts';
import {
  type AssetJson,
  IMAGE,
  ingest,
  offer,
  openUpload,
  putBytes,
  settled,
  VIDEO,
} from '../../support/media.ts';
import { type HostedName, type Hosts, sendBytes, startHosts } from '../../support/providers/hosted.ts';
import { completed, type ErasureJson, erase, erasureOf, receiptOf } from '../../support/service/erasures.ts';
import { objectsNaming, rowsNaming } from '../../support/service/owner-traces.ts';
import { notProcessed, READY, tell } from '../../support/providers/webhooks.ts';
import { asOperator, asService, asUser, call, eventually } from '../../support/service.ts';

const ERIKA = 'erika@mustermann.example';
const erika = asUser(ERIKA);

let hosts: Hosts;
let receiver: WebhookReceiver;
let film: string;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  hosts = await startHosts(
    {},
    { OUTBOUND_ALLOW_PRIVATE: 'webhooks', PURGE_GRACE_DAYS: '7', OWNER_MAX_ASSETS: '99' },
  );
  film = await makeClip({ seconds: 3 });
  const endpoint = { url: receiver.url('/erika'), events: [] };
  expectSuccess(await call(hosts.service, 'POST /webhook-endpoints', { headers: asService, json: endpoint }));
});
afterAll(async () => {
  await hosts?.stop();
  await receiver?.stop();
});

async function uploadHosted(provider: HostedName): Promise<AssetJson> {
  const { service } = hosts;
  const bytes = await readFile(film);
  const opened = await openUpload(service, ERIKA, { ...VIDEO, provider, size_bytes: bytes.length });
  await sendBytes(opened.upload, bytes);
  await eventually(
    () => call(service, `POST /media/${opened.asset_id}/complete`, { headers: erika }),
    ({ status }) => status === 200,
  );
  return settled(service, ERIKA, opened.asset_id);
}

/** One asset of every kind and state; returns their ids. */
async function fill(): Promise<string[]> {
  const { service } = hosts;
  const png = await makeSmallPng();
  const image = await offer(service, ERIKA, { bytes: png, fields: { ...IMAGE, title: 'Erika' } });
  await settled(service, ERIKA, image.id);
  const video = await ingest(service, ERIKA, { file: film });
  const captions = {
    headers: { ...erika, 'content-type': 'text/vtt' },
    body: 'WEBVTT\n\n00:00.000 --> 00:01.000\nHi\n',
  };
  expectSuccess(await call(service, `PUT /media/${video.id}/captions/en`, captions));
  const clip = await call<AssetJson>(service, `POST /media/${video.id}/clip`, {
    headers: { ...erika, 'idempotency-key': 'clip-of-erika' },
    json: { start_ms: 0, end_ms: 1000 },
  });
  expectSuccess(clip);
  await settled(service, ERIKA, clip.body.data.id);
  const trashed = await offer(service, ERIKA, { bytes: Buffer.from('trash'), fields: IMAGE });
  expectSuccess(await call(service, `DELETE /media/${trashed.id}?trash=true`, { headers: erika }));
  const deleted = await offer(service, ERIKA, { bytes: png, fields: IMAGE });
  expectSuccess(await call(service, `DELETE /media/${deleted.id}`, { headers: erika }));
  const open = await openUpload(service, ERIKA, IMAGE);
  await putBytes(open, png);
  const token = { owner_user_id: ERIKA, max_uploads: 3 };
  expectSuccess(await call(service, 'POST /upload-tokens', { headers: asService, json: token }));
  const hosted = await Promise.all([uploadHosted('cdnhost'), uploadHosted('edgehost')]);
  return [
    image.id,
    video.id,
    clip.body.data.id,
    trashed.id,
    deleted.id,
    open.asset_id,
    ...hosted.map(({ id }) => id),
  ];
}

test('erases an owner without a trace while another one goes on, and proves it', async () => {
  const { service, sims } = hosts;
  const ids = await fill();
  const ben = await ingest(service, 'ben', { file: film });
  const before = await rowsNaming(service.dataDir, [ERIKA]);
  expect(before.length).toBeGreaterThan(20);
  sims.edgehost.setFault({ on: 'api', do: 'status', status: 503 });
  const started = await erase(service, ERIKA);
  expect((await erase(service, ERIKA)).id).toBe(started.id);

  // The provider that does not respond is all that it waits for, and new uploads are refused.
  await eventually(
    () => erasureOf(service, ERIKA, started.id),
    ({ waiting }) =>
      waiting.length === 1 && waiting[0]?.reason === 'provider' && waiting[0].asset_count === 1,
  );
  const upload = await call(service, 'POST /media/upload-url', { headers: erika, json: VIDEO });
  expect(expectRefusal(upload, 409).details).toMatchObject({ reason: 'owner_is_being_erased' });
  expect((await call(service, `GET /media/${ids[0]}`, { headers: erika })).status).toBe(404);
  const during = await offer(service, 'ben', { bytes: await makeSmallPng(), fields: IMAGE });
  expect((await settled(service, 'ben', during.id)).stream_status).toBe('ready');
  sims.edgehost.clearFaults();

  const erasure = await completed(service, ERIKA, started.id);
  expect(erasure.counts).toEqual({
    asset_count: ids.length,
    removed_asset_count: ids.length,
    provider_video_count: 2,
    removed_provider_video_count: 2,
  });
  expect([sims.cdnhost.videos(), sims.edgehost.videos()]).toEqual([[], []]);
  const traces = await rowsNaming(service.dataDir, [ERIKA, ...ids]);
  expect(traces.filter((row) => !row.startsWith('public.owner_erasure_items:'))).toEqual([]);
  expect(traces.filter((row) => row.includes(ERIKA))).toEqual([]);
  expect(await objectsNaming(service.dataDir, [ERIKA, ...ids])).toEqual([]);
  expect((await call(service, `GET /media/${ben.id}`, { headers: asUser('ben') })).status).toBe(200);
  await checkReceipt(erasure, ids);
});

async function checkReceipt(erasure: ErasureJson, ids: readonly string[]): Promise<void> {
  const receipt = await receiptOf(hosts.service, ERIKA, erasure.id);
  expect(receipt.isSigned).toBe(true);
  expect(receipt.statement).toMatchObject({ erasure_id: erasure.id, assets: ids.length });
  expect(receipt.text).not.toContain(ERIKA);
  for (const id of ids)
    expect(receipt.lines).toContainEqual(expect.objectContaining({ asset_id: id, kind: 'asset' }));
  const kinds = new Set(receipt.lines.map(({ kind }) => kind));
  for (const kind of [
    'originals_files',
    'renditions_files',
    'captions_files',
    'events',
    'webhooks_received',
    'webhooks_sent',
    'provider_video',
    'upload_tokens',
  ])
    expect(kinds).toContain(kind);
}

test('a webhook that comes after the erasure is not kept', async () => {
  const { service } = hosts;
  const { asset_id: id } = await openUpload(service, 'carl');
  await completed(service, 'carl', (await erase(service, 'carl')).id);
  expect(await tell(service, 'onprem', READY.onprem(id))).toEqual(notProcessed('unknown_asset'));
  expect(await rowsNaming(service.dataDir, [id])).toEqual([
    expect.stringMatching(/^public.owner_erasure_items:/),
  ]);
});

test('an asset under a legal hold stays, and the erasure completes when the hold is released', async () => {
  const { service } = hosts;
  const { id } = await offer(service, 'dora', { bytes: await makeSmallPng(), fields: IMAGE });
  const other = await offer(service, 'dora', { bytes: Buffer.from('other'), fields: IMAGE });
  const hold = { headers: asService, json: { owner_user_id: 'dora' } };
  expectSuccess(await call(service, `PUT /media/${id}/legal-hold`, hold));
  const erasure = await erase(service, 'dora');
  await eventually(
    () => erasureOf(service, 'dora', erasure.id),
    ({ waiting }) => waiting.length === 1 && waiting[0]?.reason === 'legal_hold',
  );
  const headers = asUser('dora');
  expect((await call(service, `GET /media/${id}`, { headers })).status).toBe(200);
  expect((await call(service, `GET /media/${other.id}`, { headers })).status).toBe(404);
  expectSuccess(
    await call(service, `DELETE /media/${id}/legal-hold?owner_user_id=dora`, { headers: asService }),
  );
  expect((await completed(service, 'dora', erasure.id)).counts['removed_asset_count']).toBe(2);
  expect(await objectsNaming(service.dataDir, [id])).toEqual([]);
});

test('the owner can upload again, and an erasure of nothing is completed too', async () => {
  const { service } = hosts;
  const again = await offer(service, ERIKA, { bytes: await makeSmallPng(), fields: IMAGE });
  expect((await settled(service, ERIKA, again.id)).stream_status).toBe('ready');
  const second = await completed(service, ERIKA, (await erase(service, ERIKA)).id);
  expect(second.counts['asset_count']).toBe(1);
  expect(
    (await completed(service, 'nobody', (await erase(service, 'nobody')).id)).counts['asset_count'],
  ).toBe(0);
  const stranger = await call(service, `GET /admin/owners/ben/erasures/${second.id}`, {
    headers: asOperator,
  });
  expectRefusal(stranger, 404);
});
