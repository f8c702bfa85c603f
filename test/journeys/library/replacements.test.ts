// Replacements that fail, wait, are opened twice, or are not allowed.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { originalPrefix, toKeyOf } from '../../../service/src/storage/object-key.ts';
import { expectConflict, paintPng, replacementsOf } from '../../support/assets/replacements.ts';
import { makeClip } from '../../support/clips/clips.ts';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import {
  type AssetJson,
  complete,
  IMAGE,
  offer,
  openUpload,
  putBytes,
  readAsset,
  settled,
  type Started,
  storeImage,
} from '../../support/media.ts';
import {
  asService,
  asUser,
  call,
  eventually,
  SECRETS,
  startTestService,
  type TestService,
  tokenOf,
} from '../../support/service.ts';
import { newDataDir } from '../../support/service/data-folders.ts';
import { runCli } from '../../support/service/cli.ts';
import { startMcp } from '../../support/service/mcp.ts';
import { REMOVE_ORPHANS, runStorageCheck } from '../../support/service/storage-check.ts';
import { filesNaming } from '../../support/service/traces.ts';

const ann = asUser('ann');
const NO_ID = '01900000-0000-7000-8000-000000000999';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ PURGE_GRACE_DAYS: '0' }, { isStoreDirect: false });
});
afterAll(() => service?.stop());

const { versionsOf, rolesOf, rollBack, replace, uploadReplacement, replacedBy, jobsEnd, runHourlyJobs } =
  replacementsOf(() => service);

const isOriginal = (path: string) => path.includes('/originals/');

describe('a replacement', () => {
  test('that fails leaves the asset as it is, and gives way to the next one', async () => {
    const image = await storeImage(service, await paintPng(250, 90));
    const started = expectSuccess<Started>(await replace(image.id, IMAGE));
    await putBytes(started, Buffer.from('no picture at all'));
    expect((await complete(service, 'ann', started.asset_id)).status).toBe(400);
    expect(await readAsset(service, 'ann', image.id)).toEqual(image);
    expect(await versionsOf(image.id)).toMatchObject([{ role: 'next', stream_status: 'failed' }, {}]);
    const next = await uploadReplacement(image.id, await paintPng(20, 120), {
      ...IMAGE,
      filename: 'next.png',
    });
    expect(next).not.toBe(started.asset_id);
    await replacedBy(image.id, 'next.png');
    expect((await call(service, `GET /media/${started.asset_id}`, { headers: ann })).status).toBe(404);
  });

  test('takes over what it is asked to keep, also where the request is repeated', async () => {
    const bytes = await readFile(await makeClip({ seconds: 2 }));
    const { id: video } = (await offer(service, 'ann', { bytes })) as { id: string };
    await settled(service, 'ann', video);
    const text = Buffer.from('WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n');
    const captions = { headers: { ...ann, 'content-type': 'text/vtt' }, body: text };
    expectSuccess(await call(service, `PUT /media/${video}/captions/en?default=true`, captions));
    const chapters = [{ start_ms: 0, title: 'Start' }];
    const json = { chapters, poster_time_ms: 1000 };
    expectSuccess(await call(service, `PATCH /media/${video}`, { headers: ann, json }));
    const keep = ['captions', 'chapters', 'poster'];
    const headers = { ...ann, 'idempotency-key': 'keep-once' };
    const started = expectSuccess<Started>(await replace(video, { keep, filename: 'kept.mp4' }, headers));
    expectSuccess(await replace(video, { keep, filename: 'kept.mp4' }, headers));
    await putBytes(started, bytes);
    await complete(service, 'ann', started.asset_id);
    expect(await replacedBy(video, 'kept.mp4')).toMatchObject({ chapters, poster_time_ms: 1000 });
    const read = await fetch(`${service.url}/media/${video}/captions/en`, { headers: ann });
    expect(await read.text()).toContain('Hello');
    // The captions of the two versions are separate files.
    expectSuccess(await call(service, `DELETE /media/${video}/captions/en`, { headers: ann }));
    expectSuccess(await rollBack(video));
    const old = await fetch(`${service.url}/media/${video}/captions/en`, { headers: ann });
    expect(await old.text()).toContain('Hello');
    expect((await replace(video, { keep: ['title'] })).status).toBe(400);
  });

  test('waits while the asset is under a legal hold', async () => {
    const image = await storeImage(service, await paintPng(250, 90));
    const hold = `media/${image.id}/legal-hold`;
    const json = { owner_user_id: 'ann' };
    const started = expectSuccess<Started>(await replace(image.id, { ...IMAGE, filename: 'held.png' }));
    await putBytes(started, await paintPng(20, 120));
    expectSuccess(await call(service, `PUT /${hold}`, { headers: asService, json }));
    await complete(service, 'ann', started.asset_id);
    await settled(service, 'ann', started.asset_id);
    await jobsEnd();
    expect(await readAsset(service, 'ann', image.id)).toMatchObject({ filename: 'picture.png', width: 90 });
    expectConflict(await replace(image.id, IMAGE), 'legal_hold');
    // What it has copied already stays.
    const { db, jobs, store } = service.adapters;
    for await (const key of store.list(originalPrefix(started.asset_id)))
      await store.copy(key, toKeyOf(image.id, key));
    await db.transaction((tx) => jobs.send(tx, 'purge-asset', { assetId: image.id }));
    await jobsEnd();
    expect((await runStorageCheck(service, REMOVE_ORPHANS)).findings).toEqual([]);
    expect((await filesNaming(service.dataDir, image.id)).filter(isOriginal)).toHaveLength(2);
    expectSuccess(await call(service, `DELETE /${hold}`, { headers: asService, json }));
    await runHourlyJobs();
    await replacedBy(image.id, 'held.png');
  });

  test('is deleted with the asset that it should replace', async () => {
    const image = await storeImage(service, await paintPng(250, 90));
    const started = expectSuccess<Started>(await replace(image.id, IMAGE));
    await putBytes(started, await paintPng(20, 120));
    expectSuccess(await call(service, `DELETE /media/${image.id}`, { headers: ann }));
    await runHourlyJobs();
    expect((await call(service, `GET /media/${started.asset_id}`, { headers: ann })).status).toBe(404);
    await jobsEnd();
    for (const id of [image.id, started.asset_id]) expect(await filesNaming(service.dataDir, id)).toEqual([]);
  });

  test('is opened once at a time, and once for an Idempotency-Key', async () => {
    const image = await storeImage(service, await paintPng(250, 90));
    const headers = { ...ann, 'idempotency-key': 'replace-once' };
    const first = expectSuccess<Started>(await replace(image.id, IMAGE, headers));
    expect(expectSuccess<Started>(await replace(image.id, IMAGE, headers)).asset_id).toBe(first.asset_id);
    expect(expectRefusal(await replace(image.id, IMAGE), 409).details).toMatchObject({
      reason: 'replacement_in_progress',
      replacement_id: first.asset_id,
    });
    expectConflict(await replace(first.asset_id, IMAGE), 'is_replacement');
    expectSuccess(await call(service, `DELETE /media/${first.asset_id}?trash=true`, { headers: ann }));
    expect(await rolesOf(image.id)).toEqual(['current']);
    expect((await call(service, `POST /media/${first.asset_id}/restore`, { headers: ann })).status).toBe(404);
    expectSuccess(await replace(image.id, IMAGE));
  });

  test('is of the kind of its asset, which is ready or failed, and of its owner', async () => {
    const image = await storeImage(service, await paintPng(250, 90));
    expect(expectRefusal(await replace(image.id), 400).details).toMatchObject({
      field: 'mime_type',
      reason: 'other_kind',
    });
    const { asset_id: pending } = await openUpload(service, 'ann');
    expectConflict(await replace(pending), 'wrong_status');
    expectConflict(await rollBack(image.id), 'no_previous_version');
    for (const path of [`POST /media/${image.id}/replace`, `POST /media/${image.id}/rollback`])
      expect((await call(service, path, { headers: asUser('bob'), json: IMAGE })).status).toBe(403);
    expect((await replace(NO_ID, IMAGE)).status).toBe(404);
    const { id: failed } = await offer(service, 'ann', { bytes: Buffer.from('nothing'), fields: IMAGE });
    await uploadReplacement(failed, await paintPng(20, 120), { ...IMAGE, filename: 'mended.png' });
    expect(await replacedBy(failed, 'mended.png')).toMatchObject({ stream_status: 'ready', failure: null });
    expect(await rolesOf(failed)).toEqual(['current']);
  });
});

/** With `old.png`, 90 pixels wide, and `new.png` of 120. */
async function newPictureFolder(): Promise<string> {
  const folder = await newDataDir();
  await writeFile(join(folder, 'old.png'), await paintPng(250, 90));
  await writeFile(join(folder, 'new.png'), await paintPng(20, 120));
  return folder;
}

test('the command line replaces a file, lists its versions, and goes back', async () => {
  const folder = await newPictureFolder();
  const env = {
    MEDIARY_URL: service.address,
    MEDIARY_SERVICE_KEY: SECRETS.SERVICE_API_KEY,
    MEDIARY_OWNER: 'ann',
  };
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCli(args, { folder, env });
    expect(code, stderr).toBe(0);
    return stdout;
  };
  const { id } = JSON.parse(await run('upload', 'old.png', '--wait', '--json'));
  expect(JSON.parse(await run('replace', id, 'new.png', '--wait', '--json'))).toMatchObject({
    id,
    width: 120,
  });
  const listed = (await run('versions', id)).split('\n').map((line) => line.split(/\s+/)[0]);
  expect(listed).toEqual(['VERSION', 'current', 'previous', '']);
  expect(await run('rollback', id)).toContain(`${id}  ready  old.png`);
  const { code, stderr } = await runCli(['replace', id, 'missing.png'], { folder, env });
  expect([code, stderr]).toEqual([2, expect.stringContaining('missing.png cannot be read')]);
});

test('an assistant replaces a file under its id, and brings the previous one back', async () => {
  const folder = await newPictureFolder();
  const env = { MEDIARY_URL: service.address, MEDIARY_TOKEN: tokenOf('ann') };
  await using mcp = await startMcp({ args: ['--write'], folder, env });
  const find = (id: unknown) => mcp.read<{ asset: AssetJson }>('find_asset', { id });
  const untilWidth = (id: unknown, width: number) =>
    eventually(
      () => find(id),
      ({ asset }) => asset['width'] === width && asset.stream_status === 'ready',
    );
  const { asset } = await mcp.read<{ asset: AssetJson }>('upload_file', { path: 'old.png' });
  await untilWidth(asset.id, 90);
  const sent = await mcp.read<{ replacement: AssetJson }>('replace_file', { id: asset.id, path: 'new.png' });
  expect(sent.replacement).toMatchObject({ version_of: asset.id });
  expect((await untilWidth(asset.id, 120)).asset).toMatchObject({ filename: 'new.png' });
  const back = await mcp.read<{ asset: AssetJson }>('roll_back', { id: asset.id });
  expect(back.asset).toMatchObject({ id: asset.id, filename: 'old.png', width: 90 });
  const { isError, text } = await mcp.call('replace_file', { id: asset.id, path: '../secret.png' });
  expect([isError, text]).toEqual([true, expect.stringContaining('PATH_REFUSED')]);
});
