// A worker without the settings of a hosted provider leaves work on its videos to one that has them, and the
// timeline says why the work waits.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Simulators, startSimulators } from '../../../simulators/simulators.ts';
import { askUpload, timelineOf } from '../../support/providers/hosted.ts';
import { type SharedData, startSharedData } from '../../support/postgres/shared-data.ts';
import {
  asOperator,
  asUser,
  call,
  eventually,
  startTestService,
  type TestService,
} from '../../support/service.ts';

let data: SharedData;
let sims: Simulators;
let api: TestService;
let bare: TestService;
let equipped: TestService | undefined;
/** Of the clock of the worker without settings, in minutes. */
let offset = 0;

beforeAll(async () => {
  data = await startSharedData();
  sims = await startSimulators({ stepMs: 20 });
  api = await startTestService({ ...data.environment, ...sims.environment, MEDIARY_ROLE: 'api' });
  bare = await startTestService(workerSettings(), { now: () => new Date(Date.now() + offset * 60_000) });
});
afterAll(async () => {
  for (const service of [equipped, bare, api]) await service?.stop();
  await sims?.stop();
  await data?.remove();
});

const workerSettings = () => ({
  ...data.environment,
  MEDIARY_ROLE: 'worker',
  ENCODER_CALLBACK_URL: api.address,
});

const opened = async (): Promise<{ id: string; videoId: string }> => {
  const { asset_id: id, asset } = (await askUpload(api, 'edgehost', { visibility: 'public' })).body.data;
  return { id, videoId: String(asset['provider_video_id']) };
};
const setVisibility = (id: string, visibility: string) =>
  call(api, `PATCH /media/${id}`, { headers: asUser('ann'), json: { visibility } });
const checksOf = async (id: string) =>
  (await timelineOf(api, id))
    .filter(({ type }) => type === 'asset.checked')
    .map(({ details }) => details['reason']);
const videoOf = (id: string) => sims.edgehost.videos().find(({ uid }) => uid === id);
const untilDone = (name: 'protect-video' | 'purge-asset' | 'reconcile') =>
  eventually(
    () => bare.adapters.jobs.hasOpenJob(name, {}),
    (isOpen) => !isOpen,
  );
async function reconcileIn(minutes: number): Promise<void> {
  offset += minutes;
  await bare.adapters.db.transaction((tx) => bare.adapters.jobs.send(tx, 'reconcile', {}));
  await untilDone('reconcile');
}

test('work waits for a worker with the settings, and the timeline says why, once', async () => {
  const [shown, removed, checked] = [await opened(), await opened(), await opened()];

  for (const visibility of ['private', 'public', 'private']) {
    await setVisibility(shown.id, visibility);
    await untilDone('protect-video');
  }
  expect(await checksOf(shown.id)).toEqual(['not_configured']);
  expect((await timelineOf(api, shown.id)).find(({ type }) => type === 'asset.checked')?.sentence).toMatch(
    /no running worker has the settings/,
  );

  await call(api, `DELETE /media/${removed.id}`, { headers: asUser('ann') });
  await untilDone('purge-asset');

  for (const minutes of [16, 30, 60]) await reconcileIn(minutes);
  expect(await checksOf(checked.id)).toEqual(['not_configured']);
  expect(videoOf(shown.videoId)).toMatchObject({ requireSignedURLs: false });
  expect(videoOf(removed.videoId)).toBeDefined();

  // The API has the signing key, so it decides that videos demand signed URLs; the worker needs none for it.
  const { EDGEHOST_SIGNING_KEY_ID: _id, EDGEHOST_SIGNING_KEY_PEM: _pem, ...keyless } = sims.environment;
  equipped = await startTestService({ ...workerSettings(), ...keyless });
  await eventually(
    async () => [
      videoOf(shown.videoId)?.requireSignedURLs,
      videoOf(removed.videoId),
      await checksOf(checked.id),
    ],
    ([isProtected, video, checks]) => isProtected === true && !video && (checks as unknown[]).length === 2,
  );
  expect(await checksOf(checked.id)).toEqual(['not_configured', 'no_bytes_yet']);
});

test('with such a worker, all work is done, and the timeline mentions no settings', async () => {
  const { id, videoId } = await opened();
  for (const [visibility, isProtected] of [
    ['private', true],
    ['public', false],
    ['private', true],
  ] as const) {
    await setVisibility(id, visibility);
    await eventually(
      async () => videoOf(videoId)?.requireSignedURLs,
      (seen) => seen === isProtected,
    );
  }
  await reconcileIn(300);
  expect(await checksOf(id)).not.toContain('not_configured');
  const { body } = await call<{ workers: { providers: string[] }[] }>(api, `GET ${api.address}/readyz`, {
    headers: asOperator,
  });
  expect(body.data.workers.map(({ providers }) => providers)).toEqual([
    ['onprem'],
    ['cdnhost', 'edgehost', 'onprem'],
  ]);
});
