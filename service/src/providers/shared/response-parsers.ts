// Parses members of provider responses; malformed responses are reported as provider failures.
import { isVideoId, toJsonObject } from './verify-webhook.ts';
import { ProviderError } from '../provider.ts';

export type ResponseObject = Readonly<Record<string, unknown>>;

export const unreadableResponse = (part: string): ProviderError =>
  new ProviderError('provider_error', { providerCode: `unreadable ${part}` });

export function parseObject(value: unknown, part = 'answer'): ResponseObject {
  const members = toJsonObject(value);
  if (!members) throw unreadableResponse(part);
  return members;
}

export function parseList(value: unknown, part: string): readonly ResponseObject[] {
  if (!Array.isArray(value)) throw unreadableResponse(part);
  return value.map((item) => parseObject(item, part));
}

export function parseVideoId(value: unknown): string {
  if (!isVideoId(value)) throw unreadableResponse('video id');
  return value;
}

/** Times without a zone are in UTC. */
export function parseTime(value: unknown): Date {
  const text = typeof value === 'string' ? value : '';
  const time = new Date(/(?:Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`);
  if (Number.isNaN(time.getTime())) throw unreadableResponse('time');
  return time;
}

/** An integer from 0 to 100; undefined when the value is not a number. */
export function parsePercent(value: unknown): number | undefined {
  const percent = typeof value === 'string' ? Number.parseFloat(value) : value;
  return typeof percent === 'number' && Number.isFinite(percent)
    ? Math.floor(Math.min(100, Math.max(0, percent)))
    : undefined;
}

/** Width and height in pixels, if known. */
export function parseSize({ width, height }: ResponseObject): {
  readonly width?: number;
  readonly height?: number;
} {
  return { ...(isSize(width) && { width }), ...(isSize(height) && { height }) };
}

const isSize = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) > 0 && Number(value) < 100_000;

/** A number of bytes, if known. */
export const parseByteSize = (bytes: unknown): { readonly sizeBytes?: number } =>
  typeof bytes === 'number' && Number.isSafeInteger(bytes) && bytes > 0 ? { sizeBytes: bytes } : {};

/** Converts seconds to milliseconds, if known. */
export const parseDuration = (seconds: unknown): { readonly durationMs?: number } =>
  typeof seconds === 'number' && seconds > 0 && seconds < 1e6
    ? { durationMs: Math.round(seconds * 1000) }
    : {};

/** Encodes an id as a path segment; rejects ids that would change the path. */
export function toPathSegment(videoId: string): string {
  if (/^\.{0,2}$/.test(videoId)) throw new ProviderError('provider_video_missing', { providerCode: 'no id' });
  return encodeURIComponent(videoId);
}

/** Undefined when the provider does not know the video. */
export async function undefinedIfMissing<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof ProviderError && error.failure.code === 'provider_video_missing') return undefined;
    throw error;
  }
}
