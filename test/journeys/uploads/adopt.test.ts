// An operator adopts files that already lie beside the objects of the service: they become originals without
// passing through it. A file that is moved goes from its place once it was accepted.
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { makeSmallPng } from '../../support/encoding/processed-assets.ts';
import { expectSuccess } from '../../support/http/envelope.ts';
import { type AssetJson, settled } from '../../support/media.ts';
import {
  asOperator,
  asUser,
  call,
  eventually,
  startTestService,
  type TestService,
} from '../../support/service.ts';
import { newDatabaseDir } from '../../support/service/data-folders.ts';
import { completed, erase } from '../../support/service/erasures.ts';
import { REMOVE_ORPHANS, runStorageCheck } from '../../support/service/storage-check.ts';
import { filesNaming, originalFiles, rows } from '../../support/service/traces.ts';
import { type Adoption, type Adoptions, startAdoptions } from '../../support/uploads/adoptions.ts';

let library: Adoptions;
let service: TestService;
let films: string;
let clip: Buffer;
let picture: Buffer;
beforeAll(async () => {
  clip = await readFile(await makeClip({ seconds: 2 }));
  picture = await makeSmallPng();
  library = await startAdoptions();
  ({ service, films } = library);
});
afterAll(() => library?.stop());

const addFile: Adoptions['addFile'] = (...file) => library.addFile(...file);
const exists: Adoptions['exists'] = (name) => library.exists(name);
const request: Adoptions['request'] = (json) => library.request(json);
const adopt: Adoptions['adopt'] = (json) => library.adopt(json);

async function expectStored(asset: AssetJson, bytes: Buffer): Promise<void> {
  expect(asset).toMatchObject({ stream_status: 'ready', failure: null, size_bytes: bytes.length });
  const path = `GET /media/${asset.id}/download-url`;
  const { url } = expectSuccess<{ url: string }>(await call(service, path, { headers: asUser('ann') }));
  expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(bytes)).toBe(true);
}

const sentencesOf = async (id: string): Promise<string[]> => {
  const path = `GET /media/${id}/timeline`;
  const { items } = expectSuccess<{ items: { sentence: string }[] }>(
    await call(service, path, { headers: asUser('ann') }),
  );
  return items.map(({ sentence }) => sentence);
};

describe('a file that stays', () => {
  test('becomes a video with the name and type of the file, whose source is untouched', async () => {
    const source = await addFile("It's (1) größer+.mp4", clip);
    const started = await adopt({ source, title: 'Adopted', visibility: 'public', tags: ['old'] });
    expect(started).toMatchObject({
      ...{ owner_user_id: 'ann', kind: 'video', mime_type: 'video/mp4', external_id: source },
      ...{ filename: "It's (1) größer+.mp4", title: 'Adopted', visibility: 'public', tags: ['old'] },
      stream_status: 'pending_upload',
    });
    const asset = await settled(service, 'ann', started.id);
    await expectStored(asset, clip);
    expect(asset['playback']).not.toBeNull();
    expect(asset['checksum_sha256'], 'the service has read it').toMatch(/^[0-9a-f]{64}$/);
    expect((await readFile(join(films, "It's (1) größer+.mp4"))).equals(clip)).toBe(true);
    expect((await sentencesOf(started.id))[0]).toContain('the service adopts a file of the operator');
    expect(JSON.stringify(await sentencesOf(started.id))).not.toContain(films);
  });

  test('is adopted once, however often it is requested', async () => {
    const json = { source: await addFile('once.png', picture), external_id: 'mine' };
    const answers = await Promise.all([request(json), request(json), request(json)]);
    const adoptions = answers.map((answer) => expectSuccess<Adoption>(answer));
    expect(new Set(adoptions.map(({ asset }) => asset?.id)).size).toBe(1);
    expect(adoptions.filter(({ is_existing: isExisting }) => !isExisting)).toHaveLength(1);
    const asset = await settled(service, 'ann', adoptions[0]?.asset?.id ?? '');
    await expectStored(asset, picture);
    expect(await originalFiles(service.dataDir, asset.id)).toHaveLength(1);
  });

  test('is only checked by a dry run', async () => {
    const source = await addFile('dry.png', picture);
    const before = await rows(service.dataDir, 'select id from assets');
    const planned = expectSuccess<Adoption>(await request({ source, dry_run: true }));
    expect(planned).toEqual({ asset: null, is_existing: false });
    expect(await rows(service.dataDir, 'select id from assets')).toHaveLength(before.length);
    const { id } = await adopt({ source });
    const again = expectSuccess<Adoption>(await request({ source, dry_run: true }));
    expect(again).toMatchObject({ asset: { id }, is_existing: true });
    await settled(service, 'ann', id);
  });
});

describe('a file that is moved', () => {
  test('is the same file under another name, and its own name goes once it was accepted', async () => {
    const source = await addFile('moved.mp4', clip);
    const { ino } = await stat(join(films, 'moved.mp4'));
    const { id } = await adopt({ source, delete_source: true });
    await expectStored(await settled(service, 'ann', id), clip);
    await eventually(
      () => exists('moved.mp4'),
      (isThere) => !isThere,
    );
    const [original = ''] = await originalFiles(service.dataDir, id);
    expect((await stat(original)).ino, 'no byte was copied').toBe(ino);
    const { findings } = await runStorageCheck(service, { ...REMOVE_ORPHANS, checksums: true });
    expect(findings).toEqual([]);
  });

  test('stays if its bytes are refused, and no copy of it is left', async () => {
    const source = await addFile('broken.mp4', 'no film at all');
    const { id } = await adopt({ source, delete_source: true });
    const asset = await settled(service, 'ann', id);
    expect(asset).toMatchObject({ stream_status: 'failed', failure: { code: 'type_mismatch' } });
    await eventually(
      () => originalFiles(service.dataDir, id),
      (files) => files.length === 0,
    );
    await eventually(
      () =>
        rows(
          service.dataDir,
          "select 1 from pgboss.job where name = 'delete-source' and state < 'completed'",
        ),
      (open) => open.length === 0,
    );
    expect((await readFile(join(films, 'broken.mp4'))).toString()).toBe('no film at all');
  });
});

test('a file that goes before a worker reads it fails, and a retry adopts it when it is back', async () => {
  const source = await addFile('late.png', picture);
  const dataDir = await newDatabaseDir();
  const settings = { ADOPT_SOURCES: `file://${films}`, DATA_DIR: dataDir };
  const api = await startTestService({ ...settings, MEDIARY_ROLE: 'api' });
  const json = { owner_user_id: 'ann', source, delete_source: true };
  const created = await call<Adoption>(api, 'POST /admin/adoptions', { headers: asOperator, json });
  const id = expectSuccess<Adoption>(created).asset?.id ?? '';
  await api.stop();
  await rm(join(films, 'late.png'));
  const restarted = await startTestService(settings);
  try {
    const failed = await settled(restarted, 'ann', id);
    expect(failed.failure).toMatchObject({ code: 'adoption_failed', retryable: true });
    expect(failed.failure?.message).toContain('source does not exist');
    await addFile('late.png', picture);
    expectSuccess(await call(restarted, `POST /media/${id}/retry`, { headers: asUser('ann') }));
    expect(await settled(restarted, 'ann', id)).toMatchObject({ stream_status: 'ready' });
    await eventually(
      () => exists('late.png'),
      (isThere) => !isThere,
    );
  } finally {
    await restarted.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
});

test('erasing the owner leaves nothing but what the operator kept outside', async () => {
  const kept = await addFile('kept.png', picture);
  const moved = await addFile('gone.png', picture);
  const assets = await Promise.all([
    adopt({ owner_user_id: 'eve', source: kept }),
    adopt({ owner_user_id: 'eve', source: moved, delete_source: true }),
  ]);
  for (const { id } of assets) await settled(service, 'eve', id);
  await eventually(
    () => exists('gone.png'),
    (isThere) => !isThere,
  );
  const { id } = await erase(service, 'eve');
  await completed(service, 'eve', id);
  for (const asset of assets) {
    expect(await filesNaming(service.dataDir, asset.id)).toEqual([]);
    expect(await rows(service.dataDir, 'select 1 from imports where asset_id = $1', [asset.id])).toEqual([]);
  }
  expect((await readFile(join(films, 'kept.png'))).equals(picture)).toBe(true);
  const { findings } = await runStorageCheck(service, REMOVE_ORPHANS);
  expect(findings).toEqual([]);
});
