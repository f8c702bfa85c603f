// Parses the audio tracks in the report of our own encoder.
import { toPlainText } from '../assets/text-limits.ts';
import type { AudioFacts } from '../lifecycle/stream-report.ts';

const MAX_TRACKS = 32;
const MAX_NAME = 64;
const MAX_CHANNELS = 64;
/** Far beyond the values of any sound. */
const MAX_DECIBELS = 200;

/** Skips malformed tracks: they must not prevent a video from becoming ready. */
export function parseReportedAudio(value: unknown): { audio?: readonly AudioFacts[] } {
  if (!Array.isArray(value)) return {};
  const audio = value.slice(0, MAX_TRACKS).flatMap((track: unknown) => parseTrack(track) ?? []);
  return audio.length > 0 ? { audio } : {};
}

function parseTrack(value: unknown): AudioFacts | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const track = value as Readonly<Record<string, unknown>>;
  const name = toPlainText(track['name'], MAX_NAME);
  const { codec, language, channels } = track;
  if (name === undefined || !isWord(codec)) return undefined;
  return {
    language: isLanguage(language) ? language : null,
    name,
    codec,
    channels: isChannels(channels) ? channels : null,
    default: track['default'] === true,
    loudness_lufs: toDecibels(track['loudness_lufs']),
    true_peak_dbtp: toDecibels(track['true_peak_dbtp']),
  };
}

const isWord = (value: unknown): value is string => typeof value === 'string' && /^\w{1,32}$/.test(value);
const isLanguage = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= 35 && /^[a-z]{2,8}(?:-[a-z\d]{1,8})*$/i.test(value);
const isChannels = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_CHANNELS;
const toDecibels = (value: unknown): number | null =>
  typeof value === 'number' && Math.abs(value) <= MAX_DECIBELS ? value : null;
