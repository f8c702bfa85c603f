// Reads the parts of a hosted provider's answer: there, or the provider has trouble of its own.
import { isVideoId, membersOf } from './opening.ts';
import { ProviderFailed } from './provider.ts';

export type Members = Readonly<Record<string, unknown>>;

export const unreadable = (part: string): ProviderFailed =>
  new ProviderFailed('provider_error', { providerCode: `unreadable ${part}` });

export function membersIn(value: unknown, part = 'answer'): Members {
  const members = membersOf(value);
  if (!members) throw unreadable(part);
  return members;
}

export function listIn(value: unknown, part: string): readonly Members[] {
  if (!Array.isArray(value)) throw unreadable(part);
  return value.map((item) => membersIn(item, part));
}

export function videoIdIn(value: unknown): string {
  if (!isVideoId(value)) throw unreadable('video id');
  return value;
}

/** Without a zone it is UTC. */
export function timeIn(value: unknown): Date {
  const text = typeof value === 'string' ? value : '';
  const time = new Date(/(?:Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`);
  if (Number.isNaN(time.getTime())) throw unreadable('time');
  return time;
}

/** A whole number from 0 to 100; undefined for what is no number. */
export function percentIn(value: unknown): number | undefined {
  const percent = typeof value === 'string' ? Number.parseFloat(value) : value;
  return typeof percent === 'number' && Number.isFinite(percent)
    ? Math.floor(Math.min(100, Math.max(0, percent)))
    : undefined;
}

/** Width and height in pixels, where they are known. */
export function sizeIn({ width, height }: Members): { readonly width?: number; readonly height?: number } {
  return { ...(isSize(width) && { width }), ...(isSize(height) && { height }) };
}

const isSize = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) > 0 && Number(value) < 100_000;

/** From seconds, where they are known. */
export const durationIn = (seconds: unknown): { readonly durationMs?: number } =>
  typeof seconds === 'number' && seconds > 0 && seconds < 1e6
    ? { durationMs: Math.round(seconds * 1000) }
    : {};

/** As a part of a path; an id that would lead to another place is nobody's. */
export function segmentOf(videoId: string): string {
  if (/^\.{0,2}$/.test(videoId))
    throw new ProviderFailed('provider_video_missing', { providerCode: 'no id' });
  return encodeURIComponent(videoId);
}

/** Undefined where the provider does not know the video. */
export async function unlessMissing<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof ProviderFailed && error.failure.code === 'provider_video_missing') return undefined;
    throw error;
  }
}
