// Two workers beside an API, each a process: the one that cuts a clip is killed, and the other cuts it whole.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip, pacedEngine } from '../../support/clips/clips.ts';
import { type AssetJson, ingest, settled } from '../../support/media.ts';
import { decode, CLEAN, endOf } from '../../support/clips/picture-and-sound.ts';
import { type ReplaceableWorker, startReplaceableWorker } from '../../support/service/replaceable-worker.ts';
import { asUser, call, eventually } from '../../support/service.ts';
import { originalFiles } from '../../support/service/traces.ts';

let processes: ReplaceableWorker;
let api: ReplaceableWorker['api'];

beforeAll(async () => {
  processes = await startReplaceableWorker({}, { FFMPEG_PATH: await pacedEngine() });
  ({ api } = processes);
});
afterAll(() => processes?.stop());

const scratchOf = async (id: string): Promise<string[]> =>
  (await readdir(join(processes.dataDir, 'scratch'))).filter((name) => name.includes(`clip-${id}`));

test('a worker that is killed during a cut is replaced within a minute and leaves no bytes', async () => {
  const source = await ingest(api, 'ann', { file: await makeClip({ seconds: 20 }) });
  const { body } = await call<AssetJson>(api, `POST /media/${source.id}/clip`, {
    headers: asUser('ann'),
    json: { start_ms: 1000, end_ms: 19_000 },
  });
  const { id } = body.data;
  await eventually(
    () => scratchOf(id),
    (found) => found.length === 1,
  );
  await processes.replaceWorker();

  const clip = await settled(api, 'ann', id);
  expect(clip).toMatchObject({ stream_status: 'ready', duration_ms: 18_000, failure: null });
  const [original = '', ...others] = await originalFiles(processes.dataDir, id);
  expect(others).toEqual([]);
  expect(await decode(original)).toEqual(CLEAN);
  expect(await endOf({ url: original, stream: 'v:0' })).toBeCloseTo(18, 1);
  expect(await scratchOf(id)).toEqual([]);
});
