// An operator exports an owner: a tar archive with the very bytes, which common tools unpack and verify.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { makeSmallPng } from '../../support/encoding/processed-assets.ts';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { type AssetJson, IMAGE, ingest, offer, settled } from '../../support/media.ts';
import { runCli } from '../../support/service/cli.ts';
import {
  asOperator,
  asUser,
  call,
  eventually,
  SECRETS,
  startTestService,
  type TestService,
} from '../../support/service.ts';

const run = promisify(execFile);
const VTT = 'WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n';
/** More than sockets and streams buffer. */
const LARGE = 64 * 1024 * 1024;

let service: TestService;
let folder: string;
let video: AssetJson;
let png: Buffer;
beforeAll(async () => {
  service = await startTestService({ OWNER_EXPORTS_MAX: '1' }, { isStoreDirect: false });
  folder = await mkdtemp(join(tmpdir(), 'mediary-export-'));
  png = await makeSmallPng();
  video = await ingest(service, 'ann', {
    file: await makeClip({ seconds: 2 }),
    fields: { title: 'Film', metadata: { a: 1 } },
  });
  expectSuccess(
    await call(service, `PUT /media/${video.id}/captions/en`, {
      headers: { ...asUser('ann'), 'content-type': 'text/vtt' },
      body: VTT,
    }),
  );
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

const env = () => ({ MEDIARY_URL: service.address, MEDIARY_OPERATOR_KEY: SECRETS.OPERATOR_KEY });
const cli = (...args: string[]) => runCli(args, { folder, env: env() });

test('the archive has all files, and tar and sha256sum verify them', async () => {
  const trashed = await offer(service, 'ann', { bytes: png, fields: IMAGE });
  await settled(service, 'ann', trashed.id);
  expectSuccess(await call(service, `DELETE /media/${trashed.id}?trash=true`, { headers: asUser('ann') }));
  const other = await offer(service, 'ben', { bytes: png, fields: IMAGE });
  const saved = await cli('owners', 'export', 'ann', '-o', 'ann.tar');
  expect(saved, saved.stderr).toMatchObject({ code: 0 });

  await run('tar', ['-xf', 'ann.tar'], { cwd: folder });
  const read = async (path: string) => JSON.parse(await readFile(join(folder, path), 'utf8'));
  const { stdout: names } = await run('tar', ['-tf', 'ann.tar'], { cwd: folder });
  const paths = names.trim().split('\n');
  expect(paths.at(-1)).toBe('manifest.json');
  expect(names).not.toContain(other.id);
  const about = await read(`assets/${video.id}/asset.json`);
  expect(about).toMatchObject({
    id: video.id,
    title: 'Film',
    metadata: { a: 1 },
    stream_status: 'ready',
    original: { sha256: video['checksum_sha256'] },
    captions: [{ language: 'en', path: `assets/${video.id}/captions/en.vtt` }],
  });
  expect(await readFile(join(folder, `assets/${video.id}/captions/en.vtt`), 'utf8')).toContain('Hello');
  expect(await readFile(join(folder, `assets/${video.id}/events-1.ndjson`), 'utf8')).toContain('asset.ready');
  expect(await readFile(join(folder, `assets/${trashed.id}/original`))).toEqual(png);
  for (const id of [video.id, trashed.id])
    await run('sha256sum', ['--check', '--strict', `assets/${id}/SHA256SUMS`], { cwd: folder });
  const digest = createHash('sha256');
  for (const path of paths.slice(0, -1)) {
    const bytes = await readFile(join(folder, path));
    digest.update(`${createHash('sha256').update(bytes).digest('hex')}  ${path}\n`);
  }
  expect(await read('manifest.json')).toMatchObject({
    owner_user_id: 'ann',
    assets: 2,
    files: paths.length - 1,
    files_sha256: digest.digest('hex'),
  });
});

test('a client that leaves frees its place, and a second export meanwhile is told to wait', async () => {
  await offer(service, 'large', { bytes: Buffer.concat([png, Buffer.alloc(LARGE)]), fields: IMAGE });
  const url = `${service.url}/admin/owners/large/export`;
  const reading = request(url, { headers: asOperator }).end();
  await new Promise<void>((resolve) => {
    reading.once('response', (response) => {
      response.pause();
      resolve();
    });
  });
  const second = await call(service, 'GET /admin/owners/ann/export', { headers: asOperator });
  expect(expectRefusal(second, 503).details).toMatchObject({ reason: 'busy' });
  reading.destroy();
  await eventually(
    async () => (await fetch(`${service.url}/admin/owners/nobody/export`, { headers: asOperator })).status,
    (status) => status === 200,
  );
});

test('the command erases nothing where the file of the receipt cannot be created', async () => {
  const { id } = await offer(service, 'cleo', { bytes: png, fields: IMAGE });
  await settled(service, 'cleo', id);
  await writeFile(join(folder, 'taken.ndjson'), 'another receipt');
  for (const file of ['taken.ndjson', 'no-folder/receipt.ndjson'])
    expect(await cli('owners', 'erase', 'cleo', '--yes', '--receipt', file)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(`The file ${file} cannot be created`),
    });
  expect(await readFile(join(folder, 'taken.ndjson'), 'utf8')).toBe('another receipt');
  const asset = await call(service, `GET /media/${id}`, { headers: asUser('cleo') });
  expect(expectSuccess(asset)).toMatchObject({ id });
});

test('an interrupted erasure leaves its id and no file, so that its receipt can be saved later', async () => {
  const interrupt = { after: 'mediary owners erasure', signal: 'SIGINT' } as const;
  const args = ['owners', 'erase', 'dora', '--yes', '--receipt', 'dora.ndjson'];
  await offer(service, 'dora', { bytes: png, fields: IMAGE });
  const { stderr } = await runCli(args, { folder, env: env(), interrupt });
  const [, id = ''] = /mediary owners erasure dora (\S+)/.exec(stderr) ?? [];
  const saved = await eventually(
    () => cli('owners', 'erasure', 'dora', id, '--receipt', 'dora.ndjson'),
    ({ code }) => code === 0,
  );
  expect(saved.stdout).toContain('completed');
  expect(await cli('owners', 'verify', 'dora.ndjson', '--of-owner', 'dora')).toMatchObject({ code: 0 });
});

test('an export that ends early leaves no file that looks whole', async () => {
  const { id } = await offer(service, 'lost', { bytes: png, fields: IMAGE });
  await settled(service, 'lost', id);
  service.adapters.store.stream = () => {
    throw new Error('the store is down');
  };
  const failed = await cli('owners', 'export', 'lost', '-o', 'lost.tar');
  expect(failed.code).not.toBe(0);
  await expect(readFile(join(folder, 'lost.tar'))).rejects.toThrow('ENOENT');
});

test('the command erases only with --yes, and verifies the receipt and its owner', async () => {
  expect((await cli('owners', 'erase', 'ben')).code).toBe(2);
  const erased = await cli('owners', 'erase', 'ben', '--yes', '--receipt', 'receipt.ndjson');
  expect(erased, erased.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('completed') });
  const verify = (...more: string[]) => cli('owners', 'verify', 'receipt.ndjson', ...more);
  expect(await verify('--of-owner', 'ben')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^receipt +valid/),
  });
  expect(await verify('--of-owner', 'ann')).toMatchObject({ code: 1 });
  expect(await verify('--public-key', 'MCowBQYDK2VwAyEAEXAMPLE')).toMatchObject({ code: 1 });
  const file = join(folder, 'receipt.ndjson');
  await writeFile(file, (await readFile(file, 'utf8')).replace('"count":1', '"count":2'));
  expect(await verify()).toMatchObject({ code: 1, stderr: expect.stringContaining('SHA-256 differs') });
});
