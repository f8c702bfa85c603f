// The reconcile job leaves slow work alone, and checks it less and less often (contract B6).
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeClip, pacedEngine } from '../../support/clips/clips.ts';
import { type ClockedService, startClockedService } from '../../support/service/clocked-service.ts';
import { timelineOf } from '../../support/providers/hosted.ts';
import { IMAGE, openUpload, readAsset } from '../../support/media.ts';
import { makeSmallPng, processedAssetsOf } from '../../support/encoding/processed-assets.ts';
import { eventually, type TestService } from '../../support/service.ts';
import { eventsOf, rows } from '../../support/service/traces.ts';
import { PROCESSED, tell } from '../../support/providers/webhooks.ts';

let clocked: ClockedService;
let service: TestService;
let clip: Buffer;
let longClip: Buffer;
let picture: Buffer;

beforeAll(async () => {
  clocked = await startClockedService({ FFMPEG_PATH: await pacedEngine() });
  service = clocked.service;
  clip = await readFile(await makeClip({ seconds: 1 }));
  longClip = await readFile(await makeClip({ seconds: 10 }));
  picture = await makeSmallPng();
});
afterAll(() => service?.stop());

const pass = (minutes: number) => clocked.runAfter(minutes, 'reconcile');

const { completed, reasonsOf, statusOf, jobsOf, expectReadyOnce } = processedAssetsOf(() => service);

describe('slow work', () => {
  test('is not enqueued twice, neither running nor waiting', async () => {
    const running = await completed(longClip);
    await eventually(
      () => readAsset(service, 'ann', running),
      ({ playable_at: playableAt }) => playableAt !== null,
    );
    const waiting = await completed(clip);
    // Each part that is published delays the next check, so that one pass may come too early.
    const reasons = await eventually(
      async () => {
        await pass(10);
        return [await reasonsOf(running), await reasonsOf(waiting)];
      },
      (found) => found.every(({ length }) => length > 0),
    );
    expect(new Set(reasons.flat())).toEqual(new Set(['job_under_way']));
    for (const id of [running, waiting]) {
      await expectReadyOnce(id);
      expect(await jobsOf(id)).toHaveLength(1);
    }
  });

  test('of an external encoder is not enqueued', async () => {
    const { asset_id: id } = await openUpload(service, 'ann');
    expect(await tell(service, 'onprem', { asset_id: id, status: 'processing', progress: 30 })).toEqual(
      PROCESSED,
    );
    await pass(10);
    await pass(60);
    expect(await reasonsOf(id)).toEqual(['encoder_outside', 'encoder_outside']);
    expect([await statusOf(id), await jobsOf(id)]).toEqual(['processing', []]);
    await tell(service, 'onprem', { asset_id: id, status: 'ready' });
    await pass(600);
    expect([await statusOf(id), (await reasonsOf(id)).length]).toEqual(['ready', 2]);
  });

  test('is checked less and less often, and each timeline entry has the next check', async () => {
    const { asset_id: id } = await openUpload(service, 'ann');
    await tell(service, 'onprem', { asset_id: id, status: 'processing' });
    const pauses: number[] = [];
    for (const minutes of [10, 60, 600, 6000]) {
      await pass(minutes);
      pauses.push(
        Math.round(
          (Date.parse(String((await timelineOf(service, id)).at(-1)?.details['next_check_at'])) -
            clocked.now()) /
            60_000,
        ),
      );
    }
    expect(pauses).toEqual([5, 35, 335, 360]);
  });
});

test('an asset whose check fails does not delay others, and is checked again soon', async () => {
  const [broken, sound] = await clocked.withLost(
    'process-image',
    async () => [await completed(picture, IMAGE), await completed(picture, IMAGE)] as const,
  );
  await rows(
    service.dataDir,
    `create function refuse() returns trigger language plpgsql
       as $$ begin raise exception 'this one cannot be written'; end $$`,
  );
  await rows(
    service.dataDir,
    `create trigger refuse before update on assets for each row when (old.id = '${broken}')
       execute function refuse()`,
  );
  await clocked.startAfter(10, 'reconcile');
  await expectReadyOnce(sound);
  expect((await eventsOf(service.dataDir, broken)).at(-1)).toBe('asset.processing');
  await rows(service.dataDir, 'drop function refuse cascade');
  await expectReadyOnce(broken);
  await pass(0);
});
