// Clips whose video, or who themselves, are deleted before they are cut (contract B4).
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip, pacedEngine } from '../../support/clips/clips.ts';
import { expectRefusal } from '../../support/http/envelope.ts';
import { type AssetJson, ingest, settled } from '../../support/media.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../../support/service.ts';
import { originalFiles, rows } from '../../support/service/traces.ts';

const SECONDS = 20;
const PART = { start_ms: 500, end_ms: 19_500 };

let service: TestService;
beforeAll(async () => {
  // A cut takes as long as the part plays, so that a test can come in between.
  service = await startTestService({ FFMPEG_PATH: await pacedEngine(), ENCODE_CONCURRENCY: '1' });
});
afterAll(() => service.stop());

/** A video whose stream is copied, so that it is ready at once. */
const upload = async (): Promise<AssetJson> =>
  ingest(service, 'ann', { file: await makeClip({ seconds: SECONDS }), fields: { visibility: 'public' } });

async function startClip(sourceId: string): Promise<string> {
  const { body } = await call<AssetJson>(service, `POST /media/${sourceId}/clip`, {
    headers: asUser('ann'),
    json: PART,
  });
  return body.data.id;
}

const scratchOf = async (id: string): Promise<string[]> =>
  (await readdir(join(service.dataDir, 'scratch'))).filter((name) => name.includes(`clip-${id}`));

const isCutting = (id: string) =>
  eventually(
    () => scratchOf(id),
    (folders) => folders.length === 1,
  );

const isGone = (id: string) =>
  eventually(
    () => scratchOf(id),
    (folders) => folders.length === 0,
  );

const remove = (id: string, query = '') =>
  call(service, `DELETE /media/${id}${query}`, { headers: asUser('ann') });

test('a video that is deleted fails the clips that run and wait, and they cannot be retried', async () => {
  const source = await upload();
  const running = await startClip(source.id);
  await isCutting(running);
  const waiting = await startClip(source.id);
  await remove(source.id);
  for (const id of [running, waiting]) {
    expect(await settled(service, 'ann', id)).toMatchObject({
      stream_status: 'failed',
      failure: { code: 'clip_source_deleted', retryable: false },
      clip_of: { id: source.id },
    });
    await isGone(id);
    expect(await originalFiles(service.dataDir, id)).toEqual([]);
    const retried = await call(service, `POST /media/${id}/retry?expand=asset`, { headers: asUser('ann') });
    expect(expectRefusal(retried, 409).details).toMatchObject({ reason: 'clip_source_deleted' });
  }
});

test('a clip that is deleted is not cut any further', async () => {
  const source = await upload();
  const id = await startClip(source.id);
  await isCutting(id);
  const busy = await call(service, `POST /media/${id}/retry?expand=asset`, { headers: asUser('ann') });
  expect(expectRefusal(busy, 409).details).toMatchObject({
    reason: 'wrong_status',
    stream_status: 'pending_upload',
  });
  await remove(id);
  await isGone(id);
  expect(await originalFiles(service.dataDir, id)).toEqual([]);
  expect(await rows(service.dataDir, 'select * from clips where asset_id = $1', [id])).toEqual([]);
});
