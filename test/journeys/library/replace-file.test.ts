// A file takes the place of another one under the same id; the old one plays until then, and can come back.
import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../../service/src/platform/postgres/sql.ts';
import { expectConflict, paintPng, replacementsOf } from '../../support/assets/replacements.ts';
import { makeClip } from '../../support/clips/clips.ts';
import { CLEAN, decode, endOf, playlistsOf } from '../../support/clips/picture-and-sound.ts';
import { expectSuccess } from '../../support/http/envelope.ts';
import {
  type AssetJson,
  complete,
  IMAGE,
  imageUrlOf,
  ingest,
  putBytes,
  readAsset,
  type Started,
  storeImage,
} from '../../support/media.ts';
import { timelineOf } from '../../support/providers/hosted.ts';
import { asUser, call, startTestService, type TestService } from '../../support/service.ts';
import { runStorageCheck, REMOVE_ORPHANS } from '../../support/service/storage-check.ts';
import { filesNaming } from '../../support/service/traces.ts';

const ann = asUser('ann');

let service: TestService;
let [short, long] = ['', ''];
beforeAll(async () => {
  service = await startTestService({ PURGE_GRACE_DAYS: '0' }, { isStoreDirect: false });
  [short, long] = [await makeClip({ seconds: 2 }), await makeClip({ seconds: 5 })];
});
afterAll(() => service?.stop());

const { versionsOf, rolesOf, rollBack, replace, uploadReplacement, replacedBy, jobsEnd, runHourlyJobs } =
  replacementsOf(() => service);

const hlsOf = (asset: AssetJson) => (asset['playback'] as { hls: string }).hls;
const filesOf = (id: string) => filesNaming(service.dataDir, id);

describe('a video', () => {
  let video: AssetJson;
  let oldSegment: string;
  let replacementId: string;

  test('plays its old file, and is the only one in lists, until the new one is ready', async () => {
    video = await ingest(service, 'ann', {
      file: short,
      fields: { visibility: 'public', title: 'Launch', tags: ['a'], external_id: 'launch' },
    });
    const [picture = ''] = (await playlistsOf(hlsOf(video))).pictures;
    const playlist = await (await fetch(picture)).text();
    oldSegment = new URL(/^[^#].*\.m4s$/m.exec(playlist)?.[0] ?? '', picture).href;
    const started = expectSuccess<Started>(await replace(video.id, { filename: 'second.mp4' }));
    replacementId = started.asset_id;
    expect(started).toMatchObject({ is_existing: false, upload: { protocol: 'put' } });
    expect(await readAsset(service, 'ann', replacementId)).toMatchObject({
      version_of: video.id,
      visibility: 'public',
      title: null,
      external_id: null,
      stream_status: 'pending_upload',
    });
    expect(await readAsset(service, 'ann', video.id)).toEqual(video);
    expect(await versionsOf(video.id)).toMatchObject([
      { role: 'next', asset_id: replacementId, filename: 'second.mp4' },
      { role: 'current', asset_id: video.id, filename: 'clip.mp4', stream_status: 'ready' },
    ]);
    const list = await call<{ items: AssetJson[]; total: number }>(service, 'GET /media?count=true', {
      headers: ann,
    });
    expect(list.body.data.items.map(({ id }) => id)).toEqual([video.id]);
    expect(list.body.data.total).toBe(1);
    await putBytes(started, await readFile(long));
    const texts = 'WEBVTT\n\n00:00.000 --> 00:01.000\nNew words\n';
    const captions = `PUT /media/${replacementId}/captions/en`;
    const headers = { ...ann, 'content-type': 'text/vtt' };
    expectSuccess(await call(service, captions, { headers, body: Buffer.from(texts) }));
  });

  test('then has the new file and its captions, and keeps what is about the asset', async () => {
    await complete(service, 'ann', replacementId);
    const replaced = await replacedBy(video.id, 'second.mp4');
    expect(replaced).toMatchObject({
      id: video.id,
      stream_status: 'ready',
      title: 'Launch',
      tags: ['a'],
      external_id: 'launch',
      visibility: 'public',
      version: 2,
      created_at: video['created_at'],
    });
    expect(replaced['duration_ms']).toBeGreaterThan(4500);
    const [picture = ''] = (await playlistsOf(hlsOf(replaced))).pictures;
    expect(await endOf({ url: picture, stream: 'v:0' })).toBeCloseTo(5, 0);
    expect(await decode(picture)).toEqual(CLEAN);
    expect(await (await fetch(hlsOf(replaced))).text()).toContain('TYPE=SUBTITLES');
    expect((await call(service, `GET /media/${replacementId}`, { headers: ann })).status).toBe(404);
    expect((await timelineOf(service, video.id)).at(-1)).toMatchObject({
      type: 'asset.replaced',
      details: { replacement_id: replacementId, restorable_until: expect.any(String) },
      sentence: expect.stringContaining(`The file of the replacement ${replacementId} took the place`),
    });
  });

  test('serves the old segments to viewers who are in the middle of them', async () => {
    expect((await fetch(oldSegment)).status).toBe(200);
    expect((await fetch(oldSegment.replace(/[^/]*$/, 'r0.m3u8'))).status).toBe(404);
  });

  test('has its old file again after a rollback, and the new one after another', async () => {
    await jobsEnd();
    expect(await filesOf(replacementId)).toEqual([]);
    expect((await runStorageCheck(service, REMOVE_ORPHANS)).findings).toEqual([]);
    expect(await rolesOf(video.id)).toEqual(['current', 'previous']);
    const before = expectSuccess<AssetJson>(await rollBack(video.id));
    for (const member of ['filename', 'duration_ms', 'size_bytes', 'checksum_sha256', 'ready_at', 'title'])
      expect(before[member], member).toEqual(video[member]);
    expect(await decode(hlsOf(before))).toEqual(CLEAN);
    expect(await (await fetch(hlsOf(before))).text()).not.toContain('TYPE=SUBTITLES');
    expect(expectSuccess<AssetJson>(await rollBack(video.id))).toMatchObject({ filename: 'second.mp4' });
    expect((await timelineOf(service, video.id)).at(-1)).toMatchObject({
      sentence: 'The caller brought the previous file back.',
    });
    const download = await call<{ url: string }>(service, `GET /media/${video.id}/download-url`, {
      headers: ann,
    });
    const bytes = Buffer.from(await (await fetch(download.body.data.url)).arrayBuffer());
    expect(bytes.equals(await readFile(long))).toBe(true);
  });

  test('forgets the file before the last one at once, and the last one after TRASH_DAYS', async () => {
    const kept = await filesOf(video.id);
    await uploadReplacement(video.id, await readFile(short), { filename: 'third.mp4' });
    await replacedBy(video.id, 'third.mp4');
    await jobsEnd();
    await runHourlyJobs();
    const folders = (paths: string[]) => [
      ...new Set(paths.flatMap((path) => /renditions\/.*\/(\d+-\d+)\//.exec(path)?.[1] ?? [])),
    ];
    expect(folders(kept).toSorted()).toEqual(['1-1', '2-1']);
    expect(folders(await filesOf(video.id)).toSorted()).toEqual(['2-1', '5-1']);
    expect(await rolesOf(video.id)).toEqual(['current', 'previous']);
    await service.adapters.db.all(sql('test: thirty days later')`
      update assets
         set previous_version = previous_version || '{"restorable_until": "2026-01-01T00:00:00.000Z"}'
       where id = ${video.id}`);
    expect(await rolesOf(video.id)).toEqual(['current']);
    expectConflict(await rollBack(video.id), 'no_previous_version');
    await runHourlyJobs();
    expect(folders(await filesOf(video.id))).toEqual(['5-1']);
    expect((await runStorageCheck(service, REMOVE_ORPHANS)).findings).toEqual([]);
    expect(await decode(hlsOf(await readAsset(service, 'ann', video.id)))).toEqual(CLEAN);
  });
});

test('an image shows its new file at new URLs, and its old one again after a rollback', async () => {
  const image = await storeImage(service, await paintPng(250, 90), { visibility: 'public' });
  const shown = async () => {
    const url = `${await imageUrlOf(service, image)}&w=64&format=png`;
    const { dominant } = await sharp(await (await fetch(url)).arrayBuffer()).stats();
    const small = await fetch((image['playback'] as { thumbnail: string }).thumbnail);
    const thumbnail = (await sharp(await small.arrayBuffer()).stats()).dominant;
    return { url, reds: [dominant.r > 200, thumbnail.r > 200] };
  };
  const first = await shown();
  expect(first.reds).toEqual([true, true]);
  await uploadReplacement(image.id, await paintPng(20, 120), { ...IMAGE, filename: 'dark.png' });
  expect(await replacedBy(image.id, 'dark.png')).toMatchObject({ width: 120, kind: 'image' });
  const second = await shown();
  expect(second.reds).toEqual([false, false]);
  expect(second.url).not.toBe(first.url);
  expectSuccess(await rollBack(image.id));
  expect((await shown()).reds).toEqual([true, true]);
  await jobsEnd();
  expect((await runStorageCheck(service, REMOVE_ORPHANS)).findings).toEqual([]);
});
