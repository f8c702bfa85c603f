// An operator adopts a folder beside the store with the command: dry run, run, verify, and a move.
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { makeSmallPng } from '../../support/encoding/processed-assets.ts';
import { expectSuccess } from '../../support/http/envelope.ts';
import type { AssetJson } from '../../support/media.ts';
import { runCli } from '../../support/service/cli.ts';
import {
  asUser,
  call,
  eventually,
  SECRETS,
  startTestService,
  type TestService,
  tokenOf,
} from '../../support/service.ts';

let films: string;
let film: Buffer;
let service: TestService;
beforeAll(async () => {
  films = await realpath(await mkdtemp(join(tmpdir(), 'films-')));
  film = await readFile(await makeClip({ seconds: 2 }));
  await mkdir(join(films, '2024'));
  await writeFile(join(films, '2024', 'Größe 100%.mp4'), film);
  await writeFile(join(films, '2024', 'Größe 100%.de.vtt'), 'WEBVTT\n\n00:00.000 --> 00:01.000\nGuten Tag\n');
  await writeFile(join(films, 'poster.png'), await makeSmallPng());
  await writeFile(join(films, 'broken.mp4'), 'no film');
  await writeFile(join(films, 'notes.txt'), 'text');
  await writeFile(join(films, '.hidden.mp4'), film);
  await symlink('/etc/hostname', join(films, 'link.mp4'));
  service = await startTestService({ ADOPT_SOURCES: `file://${films}` });
});
afterAll(async () => {
  await service?.stop();
  await rm(films, { recursive: true, force: true });
});

const settings = () => ({
  MEDIARY_URL: service.address,
  MEDIARY_SERVICE_KEY: SECRETS.SERVICE_API_KEY,
  MEDIARY_OPERATOR_KEY: SECRETS.OPERATOR_KEY,
});

const migrate = (args: string, env: Record<string, string> = settings()) =>
  runCli(['migrate', ...args.split(' '), '--owner', 'ann'], { folder: service.dataDir, env });

async function reportOf(args: string, exitCode = 0) {
  const { code, stdout, stderr } = await migrate(`${args} --from folder --folder ${films} --json`);
  expect(code, stderr).toBe(exitCode);
  return JSON.parse(stdout);
}

test('a plan asks the service, which creates nothing, and says what it would refuse', async () => {
  const { counts, items } = await reportOf('plan');
  expect(counts).toEqual({ new_count: 3, existing_count: 0, failed_count: 0, not_movable_count: 1 });
  expect(items.map(({ source_id: id }: { source_id: string }) => id.slice(films.length + 1))).toEqual([
    '2024/Größe 100%.mp4',
    'broken.mp4',
    'notes.txt',
    'poster.png',
  ]);
  const outside = await migrate(`plan --from folder --folder ${service.dataDir} --limit 1 --json`);
  expect(JSON.parse(outside.stdout).counts).toMatchObject({ new_count: 0 });
  await writeFile(join(service.dataDir, 'a.png'), await makeSmallPng());
  const refused = await migrate(`plan --from folder --folder ${service.dataDir} --json`);
  expect(JSON.parse(refused.stdout).items).toContainEqual(
    expect.objectContaining({
      source_id: expect.stringMatching(/\/a\.png$/),
      result: 'not_movable',
      reason: 'source is not below a place of ADOPT_SOURCES.',
    }),
  );
  const { items: assets } = expectSuccess<{ items: AssetJson[] }>(
    await call(service, 'GET /media', { headers: asUser('ann') }),
  );
  expect(assets).toEqual([]);
});

test('a run adopts the files with their captions, and keeps them', async () => {
  const { counts, items } = await reportOf('run --wait --tag archive', 1);
  expect(counts).toMatchObject({ imported_count: 2, failed_count: 1, not_movable_count: 1 });
  const broken = items.find(({ title }: { title: string }) => title === 'broken');
  expect(broken).toMatchObject({ result: 'failed', reason: expect.stringMatching(/^type_mismatch: /) });
  const externalId = encodeURIComponent(`folder:${films}/2024/Größe 100%.mp4`);
  const path = `GET /media?external_id=${externalId}`;
  const page = expectSuccess<{ items: AssetJson[] }>(await call(service, path, { headers: asUser('ann') }));
  expect(page.items).toMatchObject([
    { title: 'Größe 100%', stream_status: 'ready', size_bytes: film.length, tags: ['archive'] },
  ]);
  const captions = await call(service, `GET /media/${page.items[0]?.id}/captions`, {
    headers: asUser('ann'),
  });
  expect(expectSuccess(captions)).toMatchObject({ items: [{ language: 'de' }] });
  expect((await reportOf('verify', 1)).counts).toMatchObject({ equal_count: 2, failed_count: 1 });
  expect((await reportOf('run', 1)).counts).toMatchObject({ imported_count: 0, existing_count: 2 });
  expect((await readdir(films)).sort()).toContain('poster.png');
});

test('a run that moves deletes what it has adopted, and only that', async () => {
  await writeFile(join(films, 'broken.mp4'), film);
  const { counts } = await reportOf('run --retry-failed --move --wait');
  expect(counts).toMatchObject({ imported_count: 1, existing_count: 2, failed_count: 0 });
  await eventually(
    () => readdir(films),
    (names) => !names.includes('broken.mp4'),
  );
  expect((await readdir(films)).sort()).toEqual([
    '.hidden.mp4',
    '2024',
    'link.mp4',
    'notes.txt',
    'poster.png',
  ]);
});

test.each([
  ['run --from cdnhost --in-place', {}, 2, '--in-place is not for cdnhost'],
  ['run --from bucket --move --bucket s3://films?region=x', {}, 2, '--move is for --in-place'],
  ['plan --from folder', {}, 2, 'Name the folder'],
  ['plan --from folder --folder . --group a', {}, 2, '--group is not for a folder'],
  ['plan --from mux --folder .', {}, 2, '--folder is for --from folder'],
  ['plan --from folder --folder .', { MEDIARY_OPERATOR_KEY: 'wrong' }, 3, 'operator key is not valid'],
] as const)('%s with %j exits with %i', async (...[args, env, code, message]) => {
  const given = { ...settings(), AWS_ACCESS_KEY_ID: 'k', AWS_SECRET_ACCESS_KEY: 's', ...env };
  const run = await migrate(args, given);
  expect(run).toEqual({ code, stdout: '', stderr: expect.stringContaining(message) });
});

test('a user cannot adopt', async () => {
  const { MEDIARY_SERVICE_KEY: _, ...others } = settings();
  const env = { ...others, MEDIARY_TOKEN: tokenOf('ann') };
  const run = await migrate(`run --from folder --folder ${films}`, env);
  expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining('with the service key') });
});
