// A clip that waits for space on the disk of a worker: its timeline says why.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { type AssetJson, complete, openUpload, putBytes } from '../../support/media.ts';
import { type ReplaceableWorker, startReplaceableWorker } from '../../support/service/replaceable-worker.ts';
import { asUser, call, eventually } from '../../support/service.ts';

let processes: ReplaceableWorker;
beforeAll(async () => {
  processes = await startReplaceableWorker({}, { MIN_FREE_BYTES: String(2 ** 52) });
});
afterAll(() => processes?.stop());

test('the timeline of a clip says that it waits for space', async () => {
  const { api } = processes;
  const started = await openUpload(api, 'ann');
  await putBytes(started, await readFile(await makeClip({ seconds: 2 })));
  await complete(api, 'ann', started.asset_id);
  const { body } = await call<AssetJson>(api, `POST /media/${started.asset_id}/clip`, {
    headers: asUser('ann'),
    json: { start_ms: 0, end_ms: 1000 },
  });
  const waits = async () => {
    const timeline = await call<{ items: { sentence: string; details: Record<string, unknown> }[] }>(
      api,
      `GET /media/${body.data.id}/timeline`,
      { headers: asUser('ann') },
    );
    return timeline.body.data.items.filter(({ details }) => details['reason'] === 'scratch_disk_full');
  };
  const [wait] = await eventually(waits, ({ length }) => length > 0);
  expect(wait).toMatchObject({ sentence: expect.stringMatching(/disk.*too little space/) });
});
