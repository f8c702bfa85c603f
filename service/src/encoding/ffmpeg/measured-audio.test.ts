// Tests that the facts of audio tracks carry the last values of long measurements.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { soundTracks } from '../packaging/tracks.fixture.ts';
import { LOUDNESS_FILES } from '../plan/arguments/loudness.ts';
import { readAudioFacts } from './measured-audio.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mediary-loudness-'));
});
afterAll(() => rm(folder, { recursive: true }));

const lines = (key: string, values: readonly string[]) =>
  values.map((value, n) => `frame:${n}    pts:${n}    pts_time:${n}\nlavfi.r128.${key}=${value}\n`).join('');

test('only the default track is measured, and each has its gain', async () => {
  const early = Array.from({ length: 500 }, () => '-30.000');
  await writeFile(join(folder, LOUDNESS_FILES.integrated), lines('I', [...early, '-16.040']));
  await writeFile(join(folder, LOUDNESS_FILES.peak), lines('true_peak', ['0.100', '1.000']));
  const tracks = soundTracks(0, [{ language: 'deu' }, { channels: 6 }])
    .filter(({ audio }) => audio.channels === 2)
    .map(({ audio }) => audio.track);
  const unmeasured = { loudness_lufs: null, true_peak_dbtp: null, gain_db: -1.5 };
  const normalization = [null, { gainDb: -1.5, ceilingDbtp: null }];
  expect(await readAudioFacts(tracks, { folder, normalization })).toEqual([
    {
      language: 'de',
      name: 'German',
      codec: 'aac',
      channels: 2,
      default: true,
      loudness_lufs: -16,
      true_peak_dbtp: 0,
      gain_db: null,
    },
    { language: null, name: 'Audio 2', codec: 'aac', channels: 6, default: false, ...unmeasured },
  ]);
});
test('a video without audio has no measurement to read', async () => {
  expect(await readAudioFacts([], { folder: join(folder, 'missing'), normalization: [] })).toEqual([]);
});
