// Tests which ffmpeg is chosen, and the messages when none is suitable; scripts replace ffmpeg.
import { chmod, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ffmpegPath } from '../../../../../test/support/clips/clips.ts';
import { findFfmpeg } from './find-ffmpeg.ts';

const ENCODERS =
  ' V....D libx264              libx264 H.264\n A....D aac                  AAC (Advanced Audio Coding)';
const MUXERS = '  E dash            DASH Muxer';

type Fake = { version?: string; encoders?: string; muxers?: string; formats?: string };

/** A folder with an `ffmpeg` that answers so. */
async function folderWith({
  version = '5.1.9-0+deb12u1',
  encoders = ENCODERS,
  muxers = MUXERS,
  formats = 'yuv420p yuv420p10le',
}: Fake = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-ffmpeg-'));
  const answers = `case "$2" in
    -version) echo "ffmpeg version ${version} Copyright";;
    -encoders) echo '${encoders}';;
    -muxers) echo '${muxers}';;
    -h) echo '    Supported pixel formats: ${formats}';;
  esac`;
  await writeFile(join(folder, 'ffmpeg'), `#!/bin/sh\n${answers}\n`);
  await chmod(join(folder, 'ffmpeg'), 0o755);
  return folder;
}
const find = (setting: string | undefined, ...folders: string[]) =>
  findFfmpeg({ setting, searchPath: folders.join(':') });

/** As 5.1 and 7.0 list it. */
const MUXER_LINES = [MUXERS, '  E  dash            DASH Muxer\n  E  webm_dash_manifest WebM DASH Manifest'];

describe('findFfmpeg', () => {
  test('the setting wins over the search path', async () => {
    const [set, onPath] = [await folderWith({ version: '6.0' }), await folderWith()];
    expect(await find(join(set, 'ffmpeg'), onPath)).toEqual({ path: join(set, 'ffmpeg'), version: '6.0' });
  });
  test('an unsuitable FFMPEG_PATH is reported, and no other path is tried', async () => {
    expect(await find('/nowhere/ffmpeg', await folderWith())).toEqual({
      missing: '/nowhere/ffmpeg does not exist',
    });
  });
  test('the first on the search path that will do', async () => {
    const [old, empty, fit] = [
      await folderWith({ version: '4.4.2' }),
      await mkdtemp(join(tmpdir(), 'mediary-ffmpeg-')),
      await folderWith(),
    ];
    expect(await find(undefined, old, empty, fit)).toEqual({
      path: join(fit, 'ffmpeg'),
      version: '5.1.9-0+deb12u1',
    });
  });
  test.each(['5.1', 'n7.0-7-gd38bf5e08e-20240407', '10.2', 'N-113007-g8d24a28d06'])(
    'version %s will do',
    async (version) => {
      expect(await find(join(await folderWith({ version }), 'ffmpeg'))).toMatchObject({ version });
    },
  );
  test.each(['5.0.3', '4.4.2-0ubuntu0.22.04.1', 'n4.1'])('version %s is too old', async (version) => {
    expect(await find(join(await folderWith({ version }), 'ffmpeg'))).toEqual({
      missing: expect.stringContaining(`is version ${version}, older than 5.1`),
    });
  });
  test.each(MUXER_LINES)('the muxer is seen in %j', async (muxers) => {
    expect(await find(join(await folderWith({ muxers }), 'ffmpeg'))).toHaveProperty('version');
  });
  test('missing features are named', async () => {
    expect(
      await find(
        join(
          await folderWith({
            encoders: ' A....D aac      AAC',
            muxers: '  E webm_dash_manifest WebM DASH Manifest',
          }),
          'ffmpeg',
        ),
      ),
    ).toEqual({ missing: expect.stringContaining('lacks the encoder libx264, the muxer dash') });
  });
  test.each([
    [
      ' V....D libx265              libx265 H.265',
      'yuv420p',
      'lacks 10 bits in the encoder libx265 (HDR_CODECS)',
    ],
    ['', 'yuv420p yuv420p10le', 'lacks the encoder libx265 (HDR_CODECS)'],
  ])('an encoder for HDR must encode 10 bits: %j, %s', async (line, formats, problem) => {
    const path = join(await folderWith({ encoders: `${ENCODERS}\n${line}`, formats }), 'ffmpeg');
    const codecs = { extraCodecs: [], hdrCodecs: ['hevc'] } as const;
    expect(await findFfmpeg({ setting: path, searchPath: '', codecs })).toEqual({
      missing: expect.stringContaining(problem),
    });
    expect(await find(path)).toHaveProperty('version');
  });
  test('the encoders for HDR are found', async () => {
    const codecs = { extraCodecs: [], hdrCodecs: ['av1', 'hevc'] } as const;
    expect(await findFfmpeg({ setting: ffmpegPath(), searchPath: '', codecs })).toHaveProperty('version');
  });
  test('something else of that name', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mediary-ffmpeg-'));
    await mkdir(join(folder, 'ffmpeg'));
    expect(await find(join(folder, 'ffmpeg'))).toEqual({ missing: expect.stringContaining('cannot be run') });
  });
  test('finds the ffmpeg of these tests', async () => {
    expect(await find(ffmpegPath())).toMatchObject({ version: expect.stringMatching(/\d/) });
  });
});
