// Rounds the time and width of a requested frame to the offered ones (contract B5).
import { FRAME_WIDTHS } from '@mediary/contract/operations/video-extras';
import { badRequest } from '../../platform/http/errors.ts';

export type FrameRequest = { readonly t: number; readonly w?: number };

/** Few times and widths, so that caches and the store hold few frames. */
export type Frame = { readonly tenths: number; readonly width: number };

const DEFAULT_WIDTH = 640;

/** Throws BAD_REQUEST with the field for a time after the end and a width above the largest one. */
export function toFrame({ t, w = DEFAULT_WIDTH }: FrameRequest, durationMs: number | null): Frame {
  const tenths = Math.round(t * 10);
  const limit = durationMs === null ? Number.MAX_SAFE_INTEGER : Math.ceil(durationMs / 100) / 10;
  if (tenths > limit * 10)
    throw badRequest(`t must be at most ${limit}, the duration of the video in seconds`, {
      field: 't',
      reason: 'above_maximum',
      limit,
    });
  const width = FRAME_WIDTHS.find((offered) => offered >= w);
  if (width !== undefined) return { tenths, width };
  throw badRequest(`w ${w} is not offered. Use one of ${FRAME_WIDTHS.join(', ')}.`, {
    field: 'w',
    reason: 'unsupported_value',
    allowed: FRAME_WIDTHS,
    limit: FRAME_WIDTHS.at(-1),
  });
}

/** The query to redirect to; undefined if the request names an offered frame. */
export function findFrameRedirect({ t, w }: FrameRequest, frame: Frame): string | undefined {
  const isOffered = t === frame.tenths / 10 && (w === undefined || w === frame.width);
  return isOffered ? undefined : toFrameQuery(frame);
}

export const toFrameQuery = ({ tenths, width }: Frame): string =>
  new URLSearchParams({ t: String(tenths / 10), w: String(width) }).toString();

const PREFIX = 'frame-';

/** The name is derived from every input, so each frame is stored once. */
export const frameName = (folder: string, { tenths, width }: Frame): string =>
  `${framePrefix(folder)}${tenths}-${width}.jpg`;

/** The prefix of all frames of one run. */
export const framePrefix = (folder: string): string => `${PREFIX}${folder}-`;
export const isFrameName = (name: string): boolean => name.startsWith(PREFIX);

/** The stored frame whose time is nearest, and of these the one whose width is. `names`: of stored frames. */
export function findNearestFrame(names: readonly string[], folder: string, frame: Frame): Frame | undefined {
  const prefix = framePrefix(folder);
  const stored = names.flatMap((name) => {
    const [, tenths, width] = NAME_END.exec(name.slice(prefix.length)) ?? [];
    return tenths === undefined ? [] : [{ tenths: Number(tenths), width: Number(width) }];
  });
  const distance = (other: Frame) =>
    Math.abs(other.tenths - frame.tenths) + Math.abs(other.width - frame.width) / MAX_WIDTH_DISTANCE;
  return stored.reduce<Frame | undefined>(
    (nearest, other) => (nearest && distance(nearest) <= distance(other) ? nearest : other),
    undefined,
  );
}

const NAME_END = /^(\d+)-(\d+)\.jpg$/;
/** Widths decide among frames of one time. */
const MAX_WIDTH_DISTANCE = 10_000;
