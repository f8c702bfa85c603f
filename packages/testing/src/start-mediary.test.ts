// The service as an application starts it for its tests: apart from others, with faults and a clock, and
// without a trace afterwards.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { signAccessToken } from '@mediary/client/server';
import { createMediary } from '@mediary/client';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { CLEAN, decode } from '../../../test/support/clips/picture-and-sound.ts';
import { eventually } from '../../../test/support/service.ts';
import { processesNaming } from '../../../test/support/service/traces.ts';
import { readSampleVideo, type StartOptions, startMediary, type TestMediary } from './start-mediary.ts';

const TEMPLATE = 'mediary-testing-template-';

let media: TestMediary;
beforeAll(async () => {
  media = await startMediary();
});
afterAll(() => media?.stop());

/** Encodes by ffmpeg, without what comes after the stream. */
const REAL: StartOptions = { encoder: 'ffmpeg', settings: { VIDEO_EXTRAS: 'none' } };

const upload = async (owner = 'ann', to = media) => to.client(owner).media.upload(await readSampleVideo());

test('a video is ready at once, with a stream that players can decode', async () => {
  const { id } = await upload();
  const { asset } = await media.waitFor('asset.ready', { assetId: id, timeoutMs: 20_000 });
  expect(asset).toMatchObject({ stream_status: 'ready', duration_ms: 2000, width: 160, height: 90 });
  const { hls, dash, thumbnail } = await media.client('ann').media.playback(id);
  expect(await Promise.all([hls, dash].map((url) => decode(url ?? '')))).toEqual([CLEAN, CLEAN]);
  expect((await fetch(thumbnail ?? '')).headers.get('content-type')).toBe('image/jpeg');
});

test('an access token of the application is accepted', async () => {
  const token = await signAccessToken({ secret: media.accessTokenSecret, userId: 'ben' });
  const { items } = await createMediary({ baseUrl: media.url, token }).media.list().page();
  expect(items).toEqual([]);
});

test('services that start at the same time share nothing, and one may have the real encoder', async () => {
  const services = await Promise.all([startMediary(), startMediary(), startMediary(REAL)]);
  onTestFinished(async () => void (await Promise.all(services.map(({ stop }) => stop()))));
  const ids = await Promise.all(services.map(async (service) => (await upload('ann', service)).id));
  const waits = services.map((service, at) =>
    service.waitFor('asset.ready', { assetId: ids[at], timeoutMs: 60_000 }),
  );
  const hls = (await Promise.all(waits)).map(({ asset }) => asset?.playback?.hls ?? '');
  for (const [at, service] of services.entries()) {
    const { items } = await service.client('ann').media.list().page();
    expect(items.map(({ id }) => id)).toEqual([ids[at]]);
    expect(new Set(service.webhooks.received.map((event) => event.asset_id))).toEqual(new Set([ids[at]]));
    expect(hls[at]?.startsWith(service.url)).toBe(at === 2);
  }
  expect(() => services[2]?.faults.encoderCrashes()).toThrow('encoder: "instant"');
});

describe('a fault', () => {
  test('of the encoder fails the video, and the error of a wait tells it', async () => {
    media.faults.encodingFails({ code: 'not_media', message: 'No video in it', retryable: false });
    const { id } = await upload();
    await media.waitFor('asset.failed', { assetId: id, timeoutMs: 20_000 });
    await expect(media.waitFor('asset.ready', { assetId: id, timeoutMs: 100 })).rejects.toThrow(
      /^The event asset.ready did not arrive .* is failed: not_media \(No video in it\)\. .*failed \(acc/,
    );
  });

  test('after the result leaves the video ready', async () => {
    media.faults.failAfterReady();
    const { id } = await upload();
    await media.waitFor('asset.ready', { assetId: id, timeoutMs: 20_000 });
    const late = await eventually(
      () => media.client('ann').media.get(id),
      ({ warnings }) => warnings.length > 0,
    );
    expect(late).toMatchObject({ stream_status: 'ready', warnings: [{ code: 'encoding_incomplete' }] });
  });

  test('that is taken back does not happen', async () => {
    media.faults.encodingFails();
    media.faults.loseWebhook({ times: Number.POSITIVE_INFINITY });
    media.faults.clear();
    await media.waitFor('asset.ready', { assetId: (await upload()).id, timeoutMs: 20_000 });
  });
});

describe('the clock', () => {
  test('lets the service ask an encoder again that has crashed', async () => {
    media.faults.encoderCrashes();
    const { id } = await upload();
    await media.waitFor('asset.processing', { assetId: id, timeoutMs: 20_000 });
    const { media: calls } = media.client('ann');
    await eventually(
      async () => (await calls.timeline(id).page()).items.map(({ sentence }) => sentence).join(),
      (sentences) => sentences.includes('accepted the video'),
    );
    await media.clock.advance('6m');
    expect(await media.waitFor('asset.ready', { assetId: id, timeoutMs: 20_000 })).toMatchObject({
      attempt: 1,
    });
  });

  test('expires uploads, and sends webhooks that are due', async () => {
    const { asset_id: id } = await media
      .client('ann')
      .media.createUpload({ filename: 'a.mp4', content_type: 'video', mime_type: 'video/mp4' });
    media.faults.loseWebhook({ type: 'asset.failed', times: 2 });
    await media.clock.advance('40d');
    expect(media.clock.now().getTime()).toBeGreaterThan(Date.now() + 40 * 86_400_000 - 1000);
    const { webhookEndpoints } = createMediary({ baseUrl: media.url, serviceKey: media.serviceKey });
    const [endpoint] = (await webhookEndpoints.list().page()).items;
    const readDelivery = async () =>
      (await webhookEndpoints.deliveries(endpoint?.id ?? '').page()).items.find(
        (each) => each.asset_id === id && each.type === 'asset.failed',
      );
    await eventually(readDelivery, (delivery) => delivery?.attempts.length === 2, { withinMs: 20_000 });
    // The third attempt would come after five minutes.
    await media.clock.advance('10m');
    await media.waitFor('asset.failed', { assetId: id, timeoutMs: 20_000 });
  });
});

describe('SIGKILL of the tests leaves no process and no folder', () => {
  test.each(['while a service starts', 'while a service runs'])('%s', async (moment) => {
    const folder = await newFolder();
    const tests = startTests(folder);
    if (moment === 'while a service runs') await Promise.race([once(tests.stdout, 'data'), failAtEnd(tests)]);
    else
      await eventually(
        () => foldersIn(folder),
        (found) => found.length > 0,
      );
    process.kill(-(tests.pid ?? 0), 'SIGKILL');
    const left = async () => [...(await processesNaming(folder)), ...(await foldersIn(folder))];
    expect(await eventually(left, (found) => found.length === 0, { withinMs: 30_000 })).toEqual([]);
  });
});

/** With the template of this machine, which would take seconds to create. */
async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-killed-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  // The user of PostgreSQL is another one than root.
  await chmod(folder, 0o755);
  const templates = globSync(join(tmpdir(), `${TEMPLATE}*`));
  await promisify(execFile)('cp', ['-a', ...templates, folder]);
  return folder;
}

/** The template is kept for the next run. */
const foldersIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter((name) => !name.startsWith(TEMPLATE));

type Tests = ChildProcess & { readonly stdout: NonNullable<ChildProcess['stdout']> };

/** A process that works in the folder, as do all the processes that it starts. */
function startTests(folder: string): Tests {
  const program = `
    const { startMediary } = await import(${JSON.stringify(import.meta.resolve('./start-mediary.ts'))});
    await startMediary();
    console.log('started');
    setInterval(() => {}, 1000);`;
  const node = [process.execPath, '--input-type=module', '--eval', program];
  return spawn('env', [`TMPDIR=${folder}`, ...node], {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  }) as Tests;
}

const failAtEnd = (tests: Tests): Promise<never> =>
  once(tests, 'exit').then(([code]) => Promise.reject(new Error(`the tests ended with ${code}`)));
