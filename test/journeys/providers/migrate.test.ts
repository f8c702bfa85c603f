// An operator moves the libraries of cdnhost and edgehost with the command, kills it in the middle, and runs
// it again.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Simulators, startSimulators } from '../../../simulators/simulators.ts';
import { ffmpegPath, makeClip } from '../../support/clips/clips.ts';
import { expectSuccess } from '../../support/http/envelope.ts';
import type { AssetJson } from '../../support/media.ts';
import {
  addCdnhostCaptions,
  addEdgehostCaptions,
  addToCdnhost,
  addToEdgehost,
  createCdnhostCollection,
} from '../../support/providers/source-libraries.ts';
import { type CliOptions, runCli } from '../../support/service/cli.ts';
import { asUser, call, SECRETS, startTestService, type TestService } from '../../support/service.ts';

let sims: Simulators;
let service: TestService;
let film: Uint8Array<ArrayBuffer>;
let short: Uint8Array<ArrayBuffer>;
beforeAll(async () => {
  const cdnhost = { tokenAuthKey: 'simulated-token-key' };
  sims = await startSimulators({ stepMs: 5, ffmpegPath: ffmpegPath(), cdnhost });
  service = await startTestService({ OUTBOUND_ALLOW_PRIVATE: 'import' });
  film = new Uint8Array(await readFile(await makeClip({ seconds: 2 })));
  short = new Uint8Array(await readFile(await makeClip({ seconds: 1, container: 'mov' })));
});
afterAll(async () => {
  await service?.stop();
  await sims?.stop();
});

const settings = () => ({
  ...sims.environment,
  MEDIARY_URL: service.address,
  MEDIARY_SERVICE_KEY: SECRETS.SERVICE_API_KEY,
});

const migrate = (args: string, options: Partial<CliOptions> = {}) =>
  runCli(['migrate', ...args.split(' '), '--owner', 'ann'], {
    folder: service.dataDir,
    env: settings(),
    ...options,
  });

/** The report of a run with this exit code. */
async function reportOf(args: string, exitCode = 0) {
  const { code, stdout, stderr } = await migrate(`${args} --json`);
  expect(code, stderr).toBe(exitCode);
  return JSON.parse(stdout);
}

async function findAsset(externalId: string): Promise<AssetJson> {
  const path = `GET /media?external_id=${externalId}`;
  const { items } = expectSuccess(await call(service, path, { headers: asUser('ann') })) as {
    items: AssetJson[];
  };
  expect(items).toHaveLength(1);
  return items[0] as AssetJson;
}

async function captionsOf({ id }: AssetJson, language: string): Promise<string> {
  const url = `${service.url}/media/${id}/captions/${language}`;
  return (await fetch(url, { headers: asUser('ann') })).text();
}

describe('the library of cdnhost', () => {
  let first: string;
  let withoutOriginal: string;
  let broken: string;
  let hollow: string;
  beforeAll(async () => {
    const collectionId = await createCdnhostCollection(sims, 'Talks');
    const chapters = [{ title: 'Demo', start: 1, end: 2 }];
    const metaTags = [{ property: 'speaker', value: 'Ann' }];
    const video = { title: 'Launch day.mp4', collectionId, chapters, metaTags };
    first = await addToCdnhost(sims, { bytes: film, video });
    await addCdnhostCaptions(sims, first, 'de');
    withoutOriginal = await addToCdnhost(sims, { bytes: short, video: { title: 'Old' } });
    broken = await addToCdnhost(sims, { bytes: new Uint8Array(5000), video: { title: 'Broken' } });
    hollow = await addToCdnhost(sims, { bytes: new Uint8Array(5000), video: { title: 'Hollow' } });
    change(withoutOriginal, { hasOriginal: false });
    change(hollow, { status: 4 });
  });

  const change = (id: string, changes: object) =>
    Object.assign(sims.cdnhost.videos().find(({ guid }) => guid === id) ?? {}, changes);

  test('is planned, also after a rate limit, with what cannot be moved', async () => {
    sims.cdnhost.setFault({ on: 'api', do: 'status', status: 429, route: 'list', times: 1 });
    const { code, stdout, stderr } = await migrate('plan --from cdnhost');
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^source +cdnhost library 4242\nitems +4\nsize +\d.* KiB\nduration +00:00:03\n/);
    expect(stdout).toMatch(/\nnew +3\nexisting +0\nfailed +0\nnot movable +1\n/);
    expect((await reportOf('plan --from cdnhost --group Talks')).item_count).toBe(1);
    expect(stdout).toMatch(RegExp(`not movable +cdnhost:${broken} +Broken +The video failed`));
  });

  test('is moved after a kill by the same command, with all that belongs to a video', async () => {
    const killed = await migrate('run --from cdnhost --concurrency 1', {
      interrupt: { after: '1 of 4', signal: 'SIGKILL' },
    });
    expect(killed).toMatchObject({ code: null, stdout: '' });
    const { counts, items } = await reportOf('run --from cdnhost --concurrency 2 --wait', 1);
    expect(counts).toMatchObject({ failed_count: 1, not_movable_count: 1 });
    expect(counts.imported_count + counts.existing_count).toBe(2);
    const reason = expect.stringMatching(/^type_mismatch: ./);
    expect(items).toContainEqual(expect.objectContaining({ source_id: hollow, result: 'failed', reason }));

    const asset = await findAsset(`cdnhost:${first}`);
    expect(asset).toMatchObject({
      ...{ title: 'Launch day.mp4', filename: 'Launch day.mp4', tags: ['Talks'] },
      ...{ visibility: 'private', provider: 'onprem', stream_status: 'ready', size_bytes: film.length },
      chapters: [{ start_ms: 1000, title: 'Demo' }],
      metadata: { meta_tags: { speaker: 'Ann' }, source: { service: 'cdnhost', id: first } },
    });
    expect(await captionsOf(asset, 'de')).toContain('Guten Tag');
    expect(await findAsset(`cdnhost:${withoutOriginal}`)).toMatchObject({ mime_type: 'video/mp4' });
  });

  test('is verified: what failed is named; a further run creates nothing', async () => {
    const { counts } = await reportOf('verify --from cdnhost', 1);
    expect(counts).toEqual({
      ...{ equal_count: 2, missing_count: 0, processing_count: 0, different_count: 0 },
      ...{ failed_count: 1, not_movable_count: 1 },
    });
    const failed = await findAsset(`cdnhost:${hollow}`);
    expectSuccess(await call(service, `DELETE /media/${failed.id}`, { headers: asUser('ann') }));
    expect((await reportOf('verify --from cdnhost', 1)).counts).toMatchObject({ missing_count: 1 });
    change(hollow, { status: 5 });
    expect((await reportOf('verify --from cdnhost')).counts).toMatchObject({ equal_count: 2 });
    const again = await reportOf('run --from cdnhost');
    expect(again.counts).toMatchObject({ imported_count: 0, existing_count: 2, failed_count: 0 });
  });
});

describe('the account of edgehost', () => {
  let open: string;
  let closed: string;
  beforeAll(async () => {
    open = await addToEdgehost(sims, film, { meta: { name: 'Holiday', album: 7 }, creator: 'bob' });
    closed = await addToEdgehost(sims, short, {
      meta: { name: 'Board' },
      requireSignedURLs: true,
      allowedOrigins: ['www.example.com'],
    });
    await addEdgehostCaptions(sims, open, 'de');
  });

  test('is moved after Ctrl-C by the same command, with captions, sites and metadata', async () => {
    const interrupted = await migrate('run --from edgehost --concurrency 1', {
      interrupt: { after: '1 of 2', signal: 'SIGINT' },
    });
    expect(interrupted).toMatchObject({ code: 130, stdout: '' });
    expect(interrupted.stderr).toContain('The same command continues.');
    expect((await reportOf('run --from edgehost --wait')).counts).toMatchObject({ failed_count: 0 });
    const asset = await findAsset(`edgehost:${open}`);
    expect(asset).toMatchObject({
      ...{ title: 'Holiday', visibility: 'public', access: null },
      metadata: { album: 7, creator: 'bob', source: { service: 'edgehost', id: open } },
    });
    expect(await captionsOf(asset, 'de')).toContain('Guten Tag');
    const access = { referrers: ['www.example.com'] };
    expect(await findAsset(`edgehost:${closed}`)).toMatchObject({ visibility: 'private', access });
    expect((await reportOf('verify --from edgehost')).counts).toMatchObject({ equal_count: 2 });
    expect((await reportOf('run --from edgehost')).counts).toMatchObject({ existing_count: 2 });
  });

  test('run restores captions that are missing, as verify says', async () => {
    const { id } = await findAsset(`edgehost:${open}`);
    const headers = asUser('ann');
    expectSuccess(await call(service, `DELETE /media/${id}/captions/de`, { headers }));
    const { items } = await reportOf('verify --from edgehost', 1);
    expect(items).toContainEqual(
      expect.objectContaining({ result: 'different', reason: 'Captions are missing: de.' }),
    );
    await reportOf('run --from edgehost');
    expect((await reportOf('verify --from edgehost')).counts).toMatchObject({ equal_count: 2 });
  });
});

test.each([
  {
    from: 'cdnhost',
    env: { CDNHOST_STREAM_API_KEY: 'wrong' },
    code: 3,
    message: 'CDNHOST_STREAM_LIBRARY_ID',
  },
  { from: 'edgehost', env: { EDGEHOST_ACCOUNT_ID: '' }, code: 2, message: 'EDGEHOST_ACCOUNT_ID is not set' },
  { from: 'bucket', env: {}, code: 2, message: 'Name the bucket' },
  { from: 'bucket --group a', env: {}, code: 2, message: '--group is not for a bucket' },
  {
    from: 'elsewhere',
    env: {},
    code: 2,
    message: 'Allowed choices are cdnhost, edgehost, mux, bucket, folder',
  },
])('a plan from $from with $env exits with $code', async ({ from, env, code, message }) => {
  const run = await migrate(`plan --from ${from}`, { env: { ...settings(), ...env } });
  expect(run).toEqual({ code, stdout: '', stderr: expect.stringContaining(message) });
});
