// Tests the closed captions of real video streams against the decoder of ffmpeg.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import {
  codes,
  bytesOf,
  dtvccPacket,
  schedule,
  text,
  toTriplets,
} from '../../../../../test/support/clips/caption-bytes.ts';
import { makeCaptionedClip } from '../../../../../test/support/clips/captioned-clip.ts';
import { ffmpegPath, makeClip } from '../../../../../test/support/clips/clips.ts';
import { delayClock } from '../../../../../test/support/clips/remux.ts';
import type { SubtitleRequest } from '../../encoder.ts';
import { openFfmpegEncoder } from '../ffmpeg-encoder.ts';

const run = promisify(execFile);

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'closed-captions-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

async function extract(source: string, container: SubtitleRequest['container']) {
  const found = await openFfmpegEncoder({ ffmpegPath: ffmpegPath() }).extractClosedCaptions({
    source,
    container,
    workFolder: await makeFolder(),
    signal: new AbortController().signal,
  });
  return found.map(({ bytes, ...details }) => ({ ...details, vtt: new TextDecoder().decode(bytes) }));
}

const CUE = /^(?:(\d+):)?(\d\d):(\d\d\.\d{3}) --> (?:(\d+):)?(\d\d):(\d\d\.\d{3}).*\n((?:.+\n?)+)/gm;

type Cue = { readonly start: number; readonly end: number; readonly text: string };

const cuesOf = (vtt: string): Cue[] =>
  [...vtt.matchAll(CUE)].map(([, h0 = 0, m0, s0, h1 = 0, m1, s1, shown = '']) => ({
    start: Number(h0) * 3600 + Number(m0) * 60 + Number(s0),
    end: Number(h1) * 3600 + Number(m1) * 60 + Number(s1),
    text: shown.trim(),
  }));

/** Decodes the pictures of the file too. */
async function decodeWithFfmpeg(path: string): Promise<Cue[]> {
  const graph = `movie=${path}[out0+subcc]`;
  const args = ['-loglevel', 'error', '-f', 'lavfi', '-i', graph, '-map', '0:s', '-f', 'webvtt', '-'];
  return cuesOf((await run(ffmpegPath(), args)).stdout);
}

const POP_ON = [...codes.RCL, ...codes.ENM, ...codes.ROW14, ...text('ONE, TWO'), ...codes.ROW15];
const PROGRAMME = schedule({
  3: toTriplets([...POP_ON, ...codes.ITALIC, ...text('three & <four>'), ...codes.EOC]),
  60: toTriplets([...codes.RCL, ...codes.ENM, ...codes.ROW1, ...text('On top'), ...codes.EOC]),
  90: toTriplets(codes.EDM),
  100: toTriplets([...codes.RU2, ...codes.CR, ...codes.ROW15, ...text('First line')]),
  130: toTriplets([...codes.CR, ...codes.ROW15, ...text('Second line')]),
  160: toTriplets([...codes.CR, ...codes.ROW15, ...text('Third line')]),
  200: toTriplets(codes.EDM),
});

test.each([
  ['h264', 'mp4', 'mov'],
  ['h264', 'ts', 'mpegts'],
  ['hevc', 'mp4', 'mov'],
  ['mpeg2video', 'mkv', 'matroska'],
  ['mpeg2video', 'ts', 'mpegts'],
] as const)('of %s in %s are those that ffmpeg decodes', async (codec, extension, container) => {
  const source = await makeCaptionedClip({ programme: PROGRAMME, codec, container: extension });
  const [found, ...others] = await extract(source, container);
  expect(others).toEqual([]);
  expect(found).toMatchObject({ language: 'und', label: 'CC1', kind: 'captions' });
  const cues = cuesOf(found?.vtt ?? '');
  const oracle = await decodeWithFfmpeg(source);
  expect(cues.map((cue) => cue.text)).toEqual([
    'ONE, TWO\n<i>three &amp; &lt;four&gt;</i>',
    'On top',
    'First line',
    'First line\nSecond line',
    'Second line\nThird line',
  ]);
  expect(cues.map((cue) => cue.text)).toEqual(oracle.map((cue) => toEscaped(cue.text)));
  for (const [index, { start, end }] of cues.entries()) {
    // ffmpeg shows roll-up captions from the carriage return on, before their first character.
    expect(Math.abs(start - (oracle[index]?.start ?? 0))).toBeLessThan(0.21);
    expect(end).toBeCloseTo(oracle[index]?.end ?? 0, 2);
  }
  // Sent completely 22 frames after its start, two pairs after the text.
  expect(cues[0]?.end).toBeCloseTo(cues[1]?.start ?? 0, 3);
  expect(found?.vtt).toMatch(/ line:10%\nOn top\n/);
});

/** The writer of ffmpeg escapes nothing. */
const toEscaped = (shown: string): string =>
  shown.replaceAll('&', '&amp;').replace('<four>', '&lt;four&gt;').replaceAll(/ +$/gm, '');

test('of a QuickTime caption track have its language, and its video is not searched', async () => {
  const folder = await makeFolder();
  const [cues, film] = [join(folder, 'cues.scc'), join(folder, 'film.mov')];
  const bytes = '9420 9420 94ae 94ae 9470 9470 c8e5 ecec ef80 942f 942f';
  await writeFile(cues, `Scenarist_SCC V1.0\n\n00:00:01:00\t${bytes}\n\n00:00:03:00\t942c 942c\n\n`);
  await run(ffmpegPath(), [
    ...['-loglevel', 'error', '-i', await makeCaptionedClip({ programme: PROGRAMME }), '-i', cues],
    ...['-map', '0', '-map', '1', '-c', 'copy', '-metadata:s:s:0', 'language=eng', film],
  ]);
  const found = await extract(film, 'mov');
  expect(found).toMatchObject([{ language: 'en', label: 'English', kind: 'captions' }]);
  expect(found[0]?.vtt).toContain('\nHello\n');
});

test('have the times of the renditions, whatever the clock of the file says', async () => {
  const source = await makeCaptionedClip({ programme: PROGRAMME, container: 'mkv' });
  const [usual] = await extract(source, 'matroska');
  const [delayed] = await extract(await delayClock(source, await makeFolder()), 'matroska');
  const [times, shifted] = [usual, delayed].map((found) => cuesOf(found?.vtt ?? '')) as [Cue[], Cue[]];
  expect(shifted).toHaveLength(times.length);
  for (const [index, { start }] of shifted.entries()) expect(start).toBeCloseTo(times[index]?.start ?? 0, 2);
});

test('of a truncated file are those before its end', async () => {
  const whole = await readFile(await makeCaptionedClip({ programme: PROGRAMME, container: 'ts' }));
  const path = join(await makeFolder(), 'truncated.ts');
  await writeFile(path, whole.subarray(0, Math.floor(whole.length * 0.6)));
  const [found] = await extract(path, 'mpegts');
  expect(found?.vtt).toContain('On top');
  expect(found?.vtt).not.toContain('Third line');
});

test('are none of a video without any, and of one whose captions are only padding', async () => {
  expect(await extract(await makeClip({ seconds: 1 }), 'mov')).toEqual([]);
  expect(await extract(await makeCaptionedClip({ programme: new Map(), seconds: 1 }), 'mov')).toEqual([]);
});

test('in further channels have private languages; digital ones are a substitute', async () => {
  const popOn = [...codes.RCL, ...codes.ROW15, ...text('Hola'), ...codes.EOC];
  const programme = schedule({
    5: toTriplets(popOn),
    20: toTriplets(popOn, 1),
  });
  const channels = await extract(await makeCaptionedClip({ programme, seconds: 2 }), 'mov');
  expect(channels.map(({ language, label }) => [language, label])).toEqual([
    ['und', 'CC1'],
    ['und-x-cc3', 'CC3'],
  ]);
  const window = [0x98, 0x20, 74, 50, 0x71, 31, 0x11];
  const digital = schedule({ 5: dtvccPacket(1, [...window, ...bytesOf('Digital')]) });
  const [service] = await extract(await makeCaptionedClip({ programme: digital, seconds: 2 }), 'mov');
  expect(service).toMatchObject({ language: 'und', label: 'Service 1' });
  expect(service?.vtt).toContain('\nDigital\n');
});
