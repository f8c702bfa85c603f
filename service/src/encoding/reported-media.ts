// Parses the description of the original, and the placeholder, in the report of our own encoder.
import type { Chapter } from '@mediary/contract/schemas/assets/chapters';
import { readChapters } from '../assets/chapters.ts';
import { toPlainText } from '../assets/text-limits.ts';
import type { AudioFacts, StreamReport, VideoFacts } from '../lifecycle/decisions/stream-report.ts';

const MAX_TRACKS = 32;
const MAX_NAME = 64;
const MAX_CHANNELS = 64;
/** Far beyond the values of any sound. */
const MAX_DECIBELS = 200;
const MAX_FPS = 1000;
const MAX_BIT_DEPTH = 16;
const MAX_PLACEHOLDER = 64;

type Members = Readonly<Record<string, unknown>>;

/** Skips malformed members: they must not prevent a video from becoming ready. */
export const parseReportedMedia = ({
  container,
  video,
  audio,
  chapters,
  placeholder,
}: Members): NonNullable<StreamReport['media']> => ({
  ...(isWord(container) && { container }),
  ...parseVideo(video),
  ...parseAudio(audio),
  ...parseChapters(chapters),
  ...(isPlaceholder(placeholder) && { placeholder }),
});

function parseVideo(value: unknown): { video?: VideoFacts } {
  if (typeof value !== 'object' || value === null) return {};
  const { codec, fps, hdr, bit_depth } = value as Members;
  if (!isWord(codec) || !isWhole(bit_depth, MAX_BIT_DEPTH)) return {};
  return { video: { codec, fps: isFps(fps) ? fps : null, hdr: hdr === true, bit_depth } };
}

function parseAudio(value: unknown): { audio?: readonly AudioFacts[] } {
  if (!Array.isArray(value)) return {};
  const audio = value.slice(0, MAX_TRACKS).flatMap((track: unknown) => parseTrack(track) ?? []);
  return audio.length > 0 ? { audio } : {};
}

function parseTrack(value: unknown): AudioFacts | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const track = value as Members;
  const name = toPlainText(track['name'], MAX_NAME);
  const { codec, language, channels } = track;
  if (name === undefined || !isWord(codec)) return undefined;
  return {
    language: isLanguage(language) ? language : null,
    name,
    codec,
    channels: isWhole(channels, MAX_CHANNELS) ? channels : null,
    default: track['default'] === true,
    loudness_lufs: toDecibels(track['loudness_lufs']),
    true_peak_dbtp: toDecibels(track['true_peak_dbtp']),
    gain_db: toDecibels(track['gain_db']),
  };
}

function parseChapters(value: unknown): { chapters?: Chapter[] } {
  const chapters = readChapters(value);
  return chapters.length > 0 ? { chapters } : {};
}

const isWord = (value: unknown): value is string => typeof value === 'string' && /^\w{1,32}$/.test(value);
const isLanguage = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= 35 && /^[a-z]{2,8}(?:-[a-z\d]{1,8})*$/i.test(value);
const isWhole = (value: unknown, max: number): value is number =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= max;
const isFps = (value: unknown): value is number => typeof value === 'number' && value > 0 && value <= MAX_FPS;
const isPlaceholder = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_PLACEHOLDER && /^[A-Za-z\d+/]{4,}={0,2}$/.test(value);
const toDecibels = (value: unknown): number | null =>
  typeof value === 'number' && Math.abs(value) <= MAX_DECIBELS ? value : null;
