// The waveform of an audio asset: measured by ffmpeg, stored as JSON, and drawn where the file has no cover.
import type { Size } from './source.ts';

/** Hertz. */
export const SAMPLE_RATE = 48_000;

/** More have no place in a player. */
const MAX_PARTS = 1800;
/** Where the file does not tell its duration: 100 ms. */
const UNKNOWN_PART_SAMPLES = 4800;
/** 21 ms, so that the waveform of a short sound has no empty parts. */
const MIN_PART_SAMPLES = 1024;

/** The lowest and the highest sample of a part, from -1 to 1. */
type Levels = { readonly min: number; readonly max: number };

export type Waveform = {
  /** All have this many samples, except the last. */
  readonly partSamples: number;
  readonly parts: readonly Levels[];
};

/** `seconds`: null where the file does not tell. */
export const partSamplesFor = (seconds: number | null): number =>
  seconds === null
    ? UNKNOWN_PART_SAMPLES
    : Math.max(MIN_PART_SAMPLES, Math.ceil((seconds * SAMPLE_RATE) / MAX_PARTS));

const LEVEL = /^lavfi\.astats\.Overall\.(Min|Max)_level=(-?[\d.]+(?:e[+-]\d+)?)$/;

/** `lines`: as ffmpeg prints the levels of one part after the other. */
export async function readWaveform(lines: AsyncIterable<string>, partSamples: number): Promise<Waveform> {
  const parts: Levels[] = [];
  let min = 0;
  for await (const line of lines) {
    const [, end, text] = LEVEL.exec(line) ?? [];
    if (end === 'Min') min = clamp(Number(text));
    if (end === 'Max') parts.push({ min, max: clamp(Number(text)) });
  }
  const joined = Math.max(1, Math.ceil(parts.length / MAX_PARTS));
  return { partSamples: partSamples * joined, parts: joinLevels(parts, joined) };
}

const clamp = (level: number): number => Math.min(1, Math.max(-1, level));

function joinLevels(parts: readonly Levels[], joined: number): readonly Levels[] {
  if (joined === 1) return parts;
  return Array.from({ length: Math.ceil(parts.length / joined) }, (_, at) =>
    joinedLevel(parts.slice(at * joined, (at + 1) * joined)),
  );
}

const joinedLevel = (parts: readonly Levels[]): Levels => ({
  min: Math.min(...parts.map(({ min }) => min)),
  max: Math.max(...parts.map(({ max }) => max)),
});

/** JSON of BBC audiowaveform, version 2: signed bytes, the lowest of each part first. */
export const formatWaveform = ({ partSamples, parts }: Waveform): string =>
  JSON.stringify({
    version: 2,
    channels: 1,
    sample_rate: SAMPLE_RATE,
    samples_per_pixel: partSamples,
    bits: 8,
    length: parts.length,
    data: parts.flatMap(({ min, max }) => [toByte(min), toByte(max)]),
  });

/** -128 stands for -1. */
const toByte = (level: number): number => Math.min(127, Math.round(level * 128));

export const PICTURE: Size = { width: 1280, height: 720 };
const BACKGROUND = [17, 21, 28] as const;
const BAR = [110, 168, 254] as const;
/** Pixels. */
const BAR_WIDTH = 6;
const BAR_PITCH = 10;
const MARGIN = 80;
const HALF_HEIGHT = 220;
/** Silence is a line. */
const MIN_HALF_BAR = 2;

/** Three bytes for each pixel of `PICTURE`: a bar for each part, as high as the loudest sound in it. */
export function drawWaveform({ parts }: Waveform): Uint8Array {
  const pixels = new Uint8Array(PICTURE.width * PICTURE.height * BACKGROUND.length);
  for (let at = 0; at < pixels.length; at += BACKGROUND.length) pixels.set(BACKGROUND, at);
  const heights = barHeights(parts);
  for (const [bar, height] of heights.entries()) drawBar(pixels, MARGIN + bar * BAR_PITCH, height);
  return pixels;
}

/** From 0 to 1, where 1 is the loudest part. */
function barHeights(parts: readonly Levels[]): readonly number[] {
  const count = Math.floor((PICTURE.width - 2 * MARGIN) / BAR_PITCH);
  const heights = Array.from({ length: count }, (_, bar) => {
    const first = Math.floor((bar * parts.length) / count);
    const end = Math.max(first + 1, Math.floor(((bar + 1) * parts.length) / count));
    return Math.max(0, ...parts.slice(first, end).map(({ min, max }) => Math.max(-min, max)));
  });
  const loudest = Math.max(...heights);
  return heights.map((height) => (loudest > 0 ? height / loudest : 0));
}

function drawBar(pixels: Uint8Array, left: number, height: number): void {
  const half = Math.max(MIN_HALF_BAR, Math.round(height * HALF_HEIGHT));
  const middle = PICTURE.height / 2;
  for (let y = middle - half; y < middle + half; y += 1)
    for (let x = left; x < left + BAR_WIDTH; x += 1) pixels.set(BAR, (y * PICTURE.width + x) * BAR.length);
}
