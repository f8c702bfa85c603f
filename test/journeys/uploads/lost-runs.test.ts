// Imports and clips whose jobs ended for good, as after a long outage, start again.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { requestClip, uploadFilm } from '../../support/clips/cut-clips.ts';
import { file, type FileServer, holdAt, startFileServer } from '../../support/http/file-server.ts';
import { type AssetJson, settled } from '../../support/media.ts';
import { type ClockedService, startClockedService } from '../../support/service/clocked-service.ts';
import { lastSentence } from '../../support/service/jobs.ts';
import { asUser, call, type TestService } from '../../support/service.ts';

let server: FileServer;
let clocked: ClockedService;
let service: TestService;
let film: Buffer;

beforeAll(async () => {
  server = await startFileServer();
  clocked = await startClockedService({ OUTBOUND_ALLOW_PRIVATE: 'import' });
  service = clocked.service;
  film = await readFile(await makeClip({ seconds: 2 }));
});
afterAll(async () => {
  await service?.stop();
  await server.stop();
});

async function startImport(url: string): Promise<string> {
  const { body } = await call<AssetJson>(service, 'POST /media/import', {
    headers: asUser('ann'),
    json: { url, filename: 'film.mp4', mime_type: 'video/mp4' },
  });
  return body.data.id;
}

const pass = () => clocked.runAfter(5, 'expire-uploads');
const find = async (id: string) =>
  (await call<AssetJson>(service, `GET /media/${id}`, { headers: asUser('ann') })).body.data;

test('an import without a job starts again, and its timeline says why', async () => {
  const url = server.serve('/lost.mp4', file(film));
  const id = await clocked.withLost('import-asset', async () => {
    const lost = await startImport(url);
    await pass();
    return lost;
  });
  expect(await find(id)).toMatchObject({ stream_status: 'pending_upload', failure: null });
  expect(await lastSentence(service, id)).toMatch(/outage.*started it again/);
  await pass();
  expect(await settled(service, 'ann', id)).toMatchObject({
    stream_status: 'ready',
    size_bytes: film.length,
  });
});

test('an import that waits for days does not expire', async () => {
  const url = server.serve('/late.mp4', file(film));
  const id = await clocked.withLost('import-asset', async () => {
    const waiting = await startImport(url);
    await clocked.runAfter(3 * 24 * 60, 'expire-uploads');
    return waiting;
  });
  expect(await find(id)).toMatchObject({ stream_status: 'pending_upload', failure: null });
  await pass();
  expect(await settled(service, 'ann', id)).toMatchObject({ stream_status: 'ready' });
});

test('a clip without a job is cut', async () => {
  const { id: source } = await uploadFilm(service, { seconds: 2 });
  const { body } = await clocked.withLost('clip-asset', () =>
    requestClip(service, { id: source, json: { start_ms: 0, end_ms: 1000 } }),
  );
  await pass();
  expect(await settled(service, 'ann', body.data.id)).toMatchObject({ stream_status: 'ready' });
});

test('an import that runs is left alone', async () => {
  const held = holdAt(film, Math.floor(film.length / 2));
  const url = server.serve('/held.mp4', held.handler);
  const id = await startImport(url);
  await held.waiting;
  await pass();
  expect(await lastSentence(service, id)).not.toMatch(/started it again/);
  expect(server.requestsOf('/held.mp4')).toHaveLength(1);
  await call(service, `DELETE /media/${id}`, { headers: asUser('ann') });
  await held.closed;
});
