// Encodes an audio file for a test, in a folder that is removed at its end.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AudioContainer } from '@mediary/media-rules/video-facts';
import { onTestFinished } from 'vitest';
import { ffmpegPath } from './clips.ts';
import type { Encoding } from '../../../service/src/encoding/encoder.ts';
import { renderManifest } from '../../../service/src/encoding/packaging/manifests.ts';
import { parseIndex } from '../../../service/src/encoding/packaging/run-index.ts';
import type { LoudnessTarget } from '../../../service/src/encoding/plan/arguments/normalization.ts';
import { DEFAULT_ENCODE_LIMITS } from '../../../service/src/encoding/plan/ladder/encode-cost.ts';
import { openFfmpegEncoder } from '../../../service/src/encoding/ffmpeg/ffmpeg-encoder.ts';

type EncodedSound = Encoding & {
  readonly path: (name: string) => string;
  readonly percents: readonly number[];
  /** The highest sample of the waveform, up to 127. */
  readonly highest: () => Promise<number>;
};

export type SoundOptions = {
  readonly ffmpeg?: string;
  readonly maxDurationSeconds?: number;
  readonly loudness?: LoudnessTarget;
};

export async function encodeSound(
  source: string,
  container: AudioContainer,
  { ffmpeg = ffmpegPath(), loudness, ...limits }: SoundOptions = {},
): Promise<EncodedSound> {
  const workFolder = await mkdtemp(join(tmpdir(), 'mediary-sound-'));
  onTestFinished(() => rm(workFolder, { recursive: true, force: true }));
  const percents: number[] = [];
  const encoding = await openFfmpegEncoder({
    ffmpegPath: ffmpeg,
    limits: { ...DEFAULT_ENCODE_LIMITS, ...limits },
    loudness,
  }).encodeAudio({
    source,
    container,
    workFolder,
    signal: new AbortController().signal,
    onProgress: (percent) => percents.push(percent),
  });
  const path = (name: string) => join(workFolder, name);
  const index = parseIndex(await readFile(path('index.json'), 'utf8'));
  for (const name of ['hls.m3u8', 'dash.mpd', 'r0.m3u8'])
    await writeFile(path(name), renderManifest(index, { name, folder: '.', captions: [] }) ?? '');
  const highest = async (): Promise<number> => {
    const { data } = JSON.parse(await readFile(path('waveform.json'), 'utf8')) as { data: number[] };
    return Math.max(...data);
  };
  return { ...encoding, path, percents, highest };
}
