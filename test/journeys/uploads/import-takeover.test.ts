// Two workers beside an API, each a process: the one that imports is killed, and the other imports the file
// whole.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import {
  file,
  type FileServer,
  holdAt,
  inTurn,
  paced,
  startFileServer,
} from '../../support/http/file-server.ts';
import { type AssetJson, settled } from '../../support/media.ts';
import { type ReplaceableWorker, startReplaceableWorker } from '../../support/service/replaceable-worker.ts';
import { asUser, call } from '../../support/service.ts';
import { originalFiles } from '../../support/service/traces.ts';

let server: FileServer;
let processes: ReplaceableWorker;
let api: ReplaceableWorker['api'];

beforeAll(async () => {
  server = await startFileServer();
  processes = await startReplaceableWorker({ OUTBOUND_ALLOW_PRIVATE: 'import' });
  ({ api } = processes);
});
afterAll(async () => {
  await processes?.stop();
  await server.stop();
});

test('a worker that is killed during an import is replaced within a minute and leaves no bytes', async () => {
  const clip = await readFile(await makeClip({ seconds: 4 }));
  const held = holdAt(clip, Math.floor(clip.length / 2));
  const url = server.serve(
    '/clip.mp4',
    inTurn(held.handler, paced(clip, { parts: 20, everyMs: 200 }), file(clip)),
  );
  const { body } = await call<AssetJson>(api, 'POST /media/import', {
    headers: asUser('ann'),
    json: { url, filename: 'clip.mp4', mime_type: 'video/mp4' },
  });
  const { id } = body.data;
  await held.waiting;
  await processes.replaceWorker();
  await held.closed;

  const asset = await settled(api, 'ann', id);
  expect(asset).toMatchObject({ stream_status: 'ready', size_bytes: clip.length, failure: null });
  expect(server.requestsOf('/clip.mp4')).toHaveLength(2);
  expect(await originalFiles(processes.dataDir, id)).toHaveLength(1);
  const download = await call<{ url: string }>(api, `GET /media/${id}/download-url`, {
    headers: asUser('ann'),
  });
  const stored = await (await fetch(download.body.data.url)).arrayBuffer();
  expect(Buffer.from(stored).equals(clip)).toBe(true);
  expect(await importedBytes(id)).toEqual([expect.any(Number), clip.length]);
});

/** Of the progress that the timeline shows. */
async function importedBytes(id: string): Promise<unknown[]> {
  const { body } = await call<{ items: { type: string; details: Record<string, unknown> }[] }>(
    api,
    `GET /media/${id}/timeline`,
    { headers: asUser('ann') },
  );
  const progress = body.data.items.find(
    ({ type, details }) => type === 'asset.progress' && 'bytes' in details,
  );
  return [progress?.details['bytes'], progress?.details['total_bytes']];
}
