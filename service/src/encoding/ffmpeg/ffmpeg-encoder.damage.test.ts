// Tests sources with damaged pictures or sound: what players get of them, and what the warning says.
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { checkDash } from '../../../../test/support/playback/check-dash.ts';
import { checkHls } from '../../../../test/support/playback/check-hls.ts';
import { makeClip, NOT_COPYABLE } from '../../../../test/support/clips/clips.ts';
import { damageFile } from '../../../../test/support/clips/damaged-files.ts';
import { encodeFilm, type Film, manifestsOf } from '../../../../test/support/clips/film.ts';
import { CLEAN, decode, keyframes } from '../../../../test/support/clips/picture-and-sound.ts';

const GROUP = ['-g', '50', '-keyint_min', '50', '-sc_threshold', '0'];
const PICTURE = { seconds: 10, width: 640, height: 360, fps: 25 } as const;
const COPYABLE = { ...PICTURE, more: ['-preset', 'veryfast', '-b:v', '700k', ...GROUP] };
const PARTLY = /^The file is damaged: \d+ of 2\d\d pictures, from 00:00:0\d\.\d{3} to 00:00:\d{2}\.\d{3}/;

const damagedWarning = ({ warnings }: Film) => warnings.find(({ code }) => code === 'damaged')?.message;
const listed = async (film: Film) =>
  (await readFile(film.path('hls.m3u8'), 'utf8'))
    .split('\n')
    .filter((line) => /^1-1\/r\d+\.m3u8$/.test(line));

async function expectPlayable(film: Film): Promise<void> {
  const files = await manifestsOf(film);
  expect([...checkHls(files), ...checkDash(files)]).toEqual([]);
  expect([await decode(film.path('hls.m3u8')), await decode(film.path('dash.mpd'))]).toEqual([CLEAN, CLEAN]);
}

describe('of a damaged file,', () => {
  test('H.264 is encoded in place of its copy', async () => {
    await using file = await damageFile(await makeClip(COPYABLE), { bytes: 400 });
    await using film = await encodeFilm(file.path);
    expect(damagedWarning(film)).toMatch(PARTLY);
    // Two video tracks and one of sound are planned; the copy was the first of them.
    expect(await listed(film)).toEqual(['1-1/r3.m3u8', '1-1/r1.m3u8']);
    expect(film.renditions).toMatchObject([
      { height: 360, state: 'ready' },
      { height: 240, state: 'ready' },
    ]);
    expect(await keyframes({ url: film.path('r3.m3u8'), stream: 'v:0' })).toEqual(
      await keyframes({ url: film.path('r1.m3u8'), stream: 'v:0' }),
    );
    await expectPlayable(film);
    // Players that started with the copy read its playlist to the end.
    expect(await readFile(film.path('r0.m3u8'), 'utf8')).toContain('#EXT-X-ENDLIST');
  });

  test('a copy without smaller renditions is checked too', async () => {
    const small = { ...COPYABLE, width: 320, height: 180 };
    await using intact = await encodeFilm(await makeClip(small));
    expect([damagedWarning(intact), await listed(intact)]).toEqual([undefined, ['1-1/r0.m3u8']]);
    await using file = await damageFile(await makeClip(small), { bytes: 100 });
    await using film = await encodeFilm(file.path);
    expect(damagedWarning(film)).toMatch(PARTLY);
    expect(await listed(film)).toEqual(['1-1/r2.m3u8']);
    await expectPlayable(film);
  });

  test('rotated pictures are encoded with a warning', async () => {
    await using file = await damageFile(await makeClip({ ...COPYABLE, rotation: 90 }), { bytes: 100 });
    await using film = await encodeFilm(file.path);
    expect(damagedWarning(film)).toMatch(PARTLY);
    await expectPlayable(film);
  });

  test('pictures that are encoded in chunks are counted too', async () => {
    const clip = await makeClip({ ...COPYABLE, more: [...COPYABLE.more, ...NOT_COPYABLE] });
    await using file = await damageFile(clip, { bytes: 20 });
    await using film = await encodeFilm(file.path, { chunkSeconds: 4 });
    expect(damagedWarning(film)).toMatch(PARTLY);
    await expectPlayable(film);
  });

  test('sound is named', async () => {
    const clip = await makeClip({ ...COPYABLE, more: ['-c:v', 'libvpx-vp9', '-b:v', '10k', '-b:a', '256k'] });
    await using file = await damageFile(clip, { bytes: 150 });
    await using film = await encodeFilm(file.path);
    expect(damagedWarning(film)).toMatch(/\d+ packets of its sound cannot be fully decoded\.$/);
  });

  test('pictures that are mostly lost are refused', async () => {
    const clip = await makeClip({
      ...PICTURE,
      seconds: 4,
      container: 'mov',
      more: ['-g', '1', '-pix_fmt', 'yuv422p10le', '-preset', 'veryfast'],
    });
    await using file = await damageFile(clip, { bytes: 20_000 });
    await expect(encodeFilm(file.path)).rejects.toMatchObject({
      code: 'undecodable',
      message: 'More than half of the picture of the video cannot be decoded.',
    });
  });
});

test('a copy that is much larger than an encode has one beside it', async () => {
  const rate = ['-b:v', '1300k', '-minrate', '1300k', '-maxrate', '1300k', '-bufsize', '600k'];
  const filled = [...rate, '-x264-params', 'nal-hrd=cbr', ...GROUP];
  const clip = await makeClip({ ...PICTURE, isNumbered: true, more: filled });
  await using film = await encodeFilm(clip);
  expect(await listed(film)).toEqual(['1-1/r0.m3u8', '1-1/r3.m3u8', '1-1/r1.m3u8']);
  const [copy, encoded, lower] = film.renditions.map(({ bitrate }) => bitrate ?? 0);
  expect(film.renditions.map(({ height }) => height)).toEqual([360, 360, 240]);
  expect(copy).toBeGreaterThan(encoded as number);
  expect(encoded).toBeGreaterThan(lower as number);
  await expectPlayable(film);
});
