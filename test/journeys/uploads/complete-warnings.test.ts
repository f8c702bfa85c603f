// `complete` warns about videos that play but are unusual, and the encoder adds what only it can see
// (contract B1).
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClipOptions, makeClip, TEST_DATA } from '../../support/clips/clips.ts';
import { type AssetJson, offer, readAsset, settled } from '../../support/media.ts';
import { addPictureSubtitles, hideBeginning } from '../../support/clips/remux.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { PROCESSED, tell } from '../../support/providers/webhooks.ts';

let service: TestService;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mediary-warnings-'));
  service = await startTestService();
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

const MIMES: Readonly<Record<string, string>> = {
  mkv: 'video/x-matroska',
  ts: 'video/mp2t',
  mov: 'video/quicktime',
};
const codesIn = (asset: AssetJson) => (asset['warnings'] as { code: string }[]).map(({ code }) => code);

async function upload(file: string): Promise<{ id: string; atComplete: string[] }> {
  const mime_type = MIMES[file.slice(file.lastIndexOf('.') + 1)] ?? 'video/mp4';
  const { id, completed } = await offer(service, 'ann', {
    bytes: await readFile(file),
    fields: { mime_type },
  });
  expect(completed.status).toBe(200);
  return { id, atComplete: codesIn(completed.body.data) };
}

/** The codes of the asset when it is ready. */
async function codesWhenReady(id: string): Promise<string[]> {
  const asset = await settled(service, 'ann', id);
  expect(asset).toMatchObject({ stream_status: 'ready', failure: null });
  return codesIn(asset);
}

describe('a video is complete with warnings', () => {
  test.each<[ClipOptions, readonly string[]]>([
    [{}, []],
    [{ rotation: 90, audio: false }, ['rotated', 'no_audio']],
    [{ fps: 5 }, ['low_frame_rate']],
  ])('%j: %j, which its encoding repeats and does not change', async (options, codes) => {
    const { id, atComplete } = await upload(await makeClip(options));
    expect(atComplete).toEqual(codes);
    expect(await codesWhenReady(id)).toEqual(codes);
  });

  test('about an edit list', async () => {
    const { atComplete } = await upload(
      await hideBeginning(await makeClip({ seconds: 4, more: ['-g', '60'] }), folder),
    );
    expect(atComplete).toEqual(['edit_list']);
  });

  test('with one sentence each', async () => {
    const { completed } = await offer(service, 'ann', {
      bytes: await readFile(await makeClip({ audio: false })),
    });
    expect(completed.body.data['warnings']).toEqual([
      { code: 'no_audio', message: 'The file has no audio track.' },
    ]);
  });
});

describe('the encoder adds', () => {
  test('that a video is interlaced', async () => {
    const interlaced = ['-c:v', 'mpeg2video', '-flags', '+ilme+ildct', '-top', '1'];
    const { id, atComplete } = await upload(
      await makeClip({ container: 'ts', audio: false, more: interlaced }),
    );
    expect(atComplete).toEqual([]);
    expect(await codesWhenReady(id)).toEqual(['interlaced', 'no_audio']);
  });
  test('that subtitles are dropped', async () => {
    const { id, atComplete } = await upload(
      await addPictureSubtitles(await makeClip({ audio: false }), folder),
    );
    expect(atComplete).toEqual(['no_audio']);
    expect(await codesWhenReady(id)).toEqual(['no_audio', 'subtitles_dropped']);
  });
});

test("a later report of another encoder does not remove the file's warnings", async () => {
  const { id } = await upload(await makeClip({ audio: false }));
  await settled(service, 'ann', id);
  expect(await tell(service, 'onprem', { asset_id: id, status: 'ready', attempt: 2 })).toEqual(PROCESSED);
  expect(codesIn(await readAsset(service, 'ann', id))).toEqual(['no_audio']);
});

describe.runIf(TEST_DATA)('a collected video', () => {
  const RAILS = 'video-samples/rails/activestorage/test/fixtures/files';
  test.each([
    ['rotated_hdr_video.mov', ['hdr', 'rotated', 'no_audio']],
    ['video_with_undefined_display_aspect_ratio.mp4', ['variable_frame_rate', 'low_frame_rate']],
    ['video_without_audio_stream.mp4', ['low_frame_rate', 'no_audio']],
  ])('%s: %j', async (name, codes) => {
    const { atComplete } = await upload(join(TEST_DATA ?? '', RAILS, name));
    expect(atComplete).toEqual(codes);
  });
});
