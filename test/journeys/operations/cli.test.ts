// The `mediary` command against the whole service: what it prints, and its exit codes.
import { appendFile, chmod, mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CliOptions, type CliRun, runCli } from '../../support/service/cli.ts';
import { makeClip } from '../../support/clips/clips.ts';
import { type AssetJson, openUpload } from '../../support/media.ts';
import { SECRETS, startTestService, type TestService, tokenOf } from '../../support/service.ts';

let service: TestService;
let folder: string;
let env: Record<string, string>;
beforeAll(async () => {
  service = await startTestService({ RESUMABLE_UPLOAD_BYTES: '5000000', MAX_IMAGE_PIXELS: '1000000' });
  folder = await mkdtemp(join(tmpdir(), 'mediary-cli-'));
  env = { MEDIARY_URL: service.address, MEDIARY_TOKEN: tokenOf('ann') };
  await writeFile(join(folder, 'photo.jpg'), await makePicture(64));
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

const makePicture = (side: number): Promise<Buffer> =>
  sharp({ create: { width: side, height: side, channels: 3, background: '#2a6f97' } })
    .jpeg()
    .toBuffer();

const run = (args: string, options: Partial<CliOptions> = {}) =>
  runCli(args.split(' '), { folder, env, ...options });
/** Of a run that succeeds. */
async function read<T = AssetJson>(args: string, options?: Partial<CliOptions>): Promise<T> {
  const { code, stdout, stderr } = await run(`${args} --json`, options);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

test('an upload is followed until ready, then listed, played, downloaded, restored and deleted', async () => {
  const asset = await read('upload photo.jpg --wait --title Photo --tag a --tag b --focal-point 0.3,0.6');
  expect(asset).toMatchObject({
    stream_status: 'ready',
    owner_user_id: 'ann',
    title: 'Photo',
    tags: ['a', 'b'],
    focal_point: { x: 0.3, y: 0.6 },
  });

  expect(await read(`get ${asset.id}`)).toEqual(asset);
  expect((await run(`get ${asset.id}`)).stdout).toMatch(RegExp(`play +mediary open ${asset.id}`));
  expect(await run('ls --tag none')).toMatchObject({
    stdout: '',
    stderr: 'No assets of the user ann match.\n',
  });
  expect((await run('usage')).stdout).toMatch(/^owner ann\n.*\nbytes .*\nassets +1 +none$/m);
  expect((await run('ls --tag a')).stdout).toMatch(
    RegExp(`^ID .*\\n${asset.id} +ready +image .* ann +Photo\\n$`),
  );
  expect(await read<{ items: AssetJson[] }>('ls --status failed')).toEqual({ items: [], next_cursor: null });

  const { stdout: url } = await run(`open ${asset.id}`);
  expect((await fetch(url.trim())).headers.get('content-type')).toMatch(/^image\//);

  const saved = await read<{ file: string }>(`download ${asset.id} -o back.jpg`);
  expect(saved).toMatchObject({ file: 'back.jpg', sha256: asset.checksum_sha256 });
  expect(await readFile(join(folder, 'back.jpg'))).toEqual(await readFile(join(folder, 'photo.jpg')));
  expect(await run(`download ${asset.id} -o back.jpg`)).toMatchObject({ code: 2 });

  expect(await read(`rm ${asset.id} --trash`)).toEqual({ id: asset.id, deleted: true });
  expect(await read(`restore ${asset.id}`)).toMatchObject({ id: asset.id, deleted_at: null });
  expect(await read(`rm ${asset.id}`)).toEqual({ id: asset.id, deleted: true });
  expect((await run(`get ${asset.id}`)).code).toBe(4);
});

test('a part of a video becomes another video', async () => {
  await writeFile(join(folder, 'film.mp4'), await readFile(await makeClip({ seconds: 3 })));
  await writeFile(join(folder, 'parts.txt'), '0:00 Start\n0:02 End\n');
  const { id, chapters } = await read('upload film.mp4 --wait --chapters parts.txt');
  expect(chapters).toMatchObject([{ title: 'Start' }, { start_ms: 2000, title: 'End' }]);
  const clip = await read(`clip ${id} --start 0:01 --end 2.5 --title Part --public --wait`);
  expect(clip).toMatchObject({
    stream_status: 'ready',
    title: 'Part',
    visibility: 'public',
    duration_ms: 1500,
    clip_of: { id, start_ms: 1000, end_ms: 2500 },
  });
  expect(await run(`clip ${id} --start 1`)).toMatchObject({ code: 2 });
  const late = await run(`clip ${id} --start 1 --end 99`);
  expect(late).toMatchObject({ code: 1, stderr: expect.stringContaining('end_ms') });
});

test('watch prints each state of a video until it is ready', async () => {
  await writeFile(join(folder, 'clip.mp4'), await readFile(await makeClip({ seconds: 1 })));
  const { id } = await read('upload clip.mp4');
  const { code, stdout } = await run(`watch ${id} --json --timeout 50s`);
  const states = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).stream_status);
  expect(code).toBe(0);
  expect(states.at(-1)).toBe('ready');
  expect((await run(`open ${id} --format dash`)).stdout).toMatch(/\/~[^/]+\/dash\.mpd\n$/);
});

test('an asset that fails is printed, and the exit code is 5', async () => {
  await writeFile(join(folder, 'large.jpg'), await makePicture(1100));
  const { code, stdout, stderr } = await run('upload large.jpg --wait --json');
  expect(JSON.parse(stdout)).toMatchObject({ stream_status: 'failed' });
  expect(JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
    error: { exit_code: 5, error_code: 'ASSET_FAILED', asset_id: JSON.parse(stdout).id },
  });
  expect(code).toBe(5);
});

test('Ctrl-C ends an upload with 130, and the same command continues it', async () => {
  const file = join(folder, 'film.mp4');
  await writeFile(file, await readFile(await makeClip({ seconds: 1 })));
  const { size } = await stat(file);
  const padding = 150_000_000;
  const head = Buffer.from('\0\0\0\0free');
  head.writeUInt32BE(padding);
  await appendFile(file, head);
  await truncate(file, size + padding);

  const options = { env: { ...env, MEDIARY_TOKEN: tokenOf('eve') } };
  const interrupted = await run('upload film.mp4', {
    ...options,
    interrupt: { after: 'uploading', signal: 'SIGINT' },
  });
  expect(interrupted).toMatchObject({ code: 130, stdout: '' });
  expect(interrupted.stderr).toContain('The same command continues the upload.');

  const asset = await read('upload film.mp4', options);
  expect(asset).toMatchObject({ stream_status: 'processing', size_bytes: size + padding });
  expect((await read<{ items: AssetJson[] }>('ls', options)).items).toHaveLength(1);
});

test('a token is signed for a user, with an expiry', async () => {
  const secret = { env: { ACCESS_TOKEN_SECRET: SECRETS.ACCESS_TOKEN_SECRET } };
  const { stdout } = await run('token --user bob --expires 1h', secret);
  expect((await run('ls', { env: { ...env, MEDIARY_TOKEN: stdout.trim() } })).code).toBe(0);
  const { token, user_id } = await read<Record<string, string>>('token --user bob', secret);
  const { exp, iat } = JSON.parse(Buffer.from(token?.split('.')[1] ?? '', 'base64url').toString());
  expect([user_id, exp - iat]).toEqual(['bob', 3600]);
});

test('events are printed as they happen, and after the position that --since names', async () => {
  const zoe = { env: { ...env, MEDIARY_TOKEN: tokenOf('zoe') } };
  const untilEvent = { ...zoe, interrupt: { after: 'asset.created', signal: 'SIGINT' } } as const;
  const live = run('events --json', untilEvent);
  // What happens before the stream is open is not part of it.
  let ended: CliRun | undefined;
  while (!ended) {
    await openUpload(service, 'zoe');
    ended = await Promise.race([live, sleep(500, undefined)]);
  }
  const [first] = ended.stdout.split('\n').map((line) => line && JSON.parse(line));
  expect([ended.code, first]).toEqual([130, expect.objectContaining({ owner_user_id: 'zoe' })]);

  const { asset_id } = await openUpload(service, 'zoe');
  const { stdout } = await run(`events --since ${first.position}`, {
    ...zoe,
    interrupt: { after: asset_id, signal: 'SIGINT' },
  });
  expect(stdout).not.toContain(first.asset_id);
  expect(stdout).toMatch(RegExp(`asset.created +${asset_id} +pending_upload`));

  const fromBeginning = await run('events --since beginning', {
    ...zoe,
    interrupt: { after: asset_id, signal: 'SIGINT' },
  });
  expect(fromBeginning.stdout).toContain(first.asset_id);
});

describe('exit codes', () => {
  const NO_ASSET = '019aab7c-4d2e-7c55-9f0e-6d1f2b3c4d5e';

  test.each([
    [1, 'a refused request', 'ls --after never'],
    [2, 'a wrong option', 'ls --limit 0'],
    [3, 'a refused token', 'ls --token x'],
    [4, 'no such asset', `get ${NO_ASSET}`],
    [7, 'an unreachable service', 'ls --url http://127.0.0.1:9999'],
  ])('%i: %s', async (code, _name, args) => {
    const result = await run(`${args} --json`);
    expect(result, result.stderr).toMatchObject({ code, stdout: '' });
  });

  test('141: the reader of stdout has gone', async () => {
    expect(await run('usage', { hasNoReader: true })).toEqual({ code: 141, stdout: '', stderr: '' });
  });

  test('3: the asset of another user; 6: not ready in time', async () => {
    const { asset_id: id } = await openUpload(service, 'bob');
    const stranger = await run(`get ${id}`);
    expect(stranger).toMatchObject({ code: 3, stdout: '' });
    expect(stranger.stderr).toMatch(/^Error: You do not own this asset \(request: .*\)$/m);
    const owner = { env: { ...env, MEDIARY_TOKEN: tokenOf('bob') } };
    expect((await run(`watch ${id} --timeout 1s`, owner)).code).toBe(6);
  });
});

describe('profiles', () => {
  const operator = { env: { MEDIARY_URL: '' }, input: SECRETS.OPERATOR_KEY };

  test('hold URL and secrets, which are sent to that URL alone', async () => {
    await run(`config login work --as operator-key --url ${service.address}`, operator);
    expect((await run('providers', { env: {} })).stdout).toMatch(/^onprem +encoder +configured/m);
    expect((await run('providers --url http://127.0.0.1:9999', { env: {} })).code).toBe(3);
    const { stdout: link } = await run('console', { env: {} });
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/console#code=[\w-]{43}\n$/);
  });

  test('are refused while other users can read them', async () => {
    await run(`config login work --as operator-key --url ${service.address}`, operator);
    const file = join(folder, '.config/mediary/config.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await chmod(file, 0o644);
    const { code, stderr } = await run('providers', { env: {} });
    expect([code, stderr]).toEqual([2, expect.stringContaining(`chmod 600 ${file}`)]);
    await rm(file);
  });
});

test('the doctor finds what is wrong on the way, and exits with 1', async () => {
  const findings = async (args: string) => {
    const { code, stdout } = await run(`doctor --json${args}`);
    const statuses = JSON.parse(stdout).findings.map((found: { check: string; status: string }) => [
      found.check,
      found.status,
    ]);
    return { code, ...Object.fromEntries(statuses) };
  };
  expect(await findings('')).toMatchObject({
    code: 0,
    'connection.reachable': 'ok',
    'connection.public_url': 'ok',
    'access.credentials': 'ok',
    'cors.playback': 'ok',
    'cors.upload': 'not_checked',
  });
  expect(await findings(' --origin https://app.test')).toMatchObject({ code: 1, 'cors.upload': 'problem' });
  expect(await findings(' --url http://127.0.0.1:9999')).toEqual({
    code: 1,
    'connection.reachable': 'problem',
  });
});
