// Parsers of arguments and option values; each throws an error that names the accepted form.
import type { AssetKind } from '@mediary/client';
import { InvalidArgumentError } from 'commander';

export const ASSET_KINDS: readonly AssetKind[] = ['image', 'video', 'audio'];

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Ten years. JavaScript has no dates of some later times. */
const MAX_DURATION_DAYS = 3650;
/** The timers of JavaScript end longer waits at once. */
const MAX_WAIT_DAYS = 24;

/** Seconds of `90s`, `15m`, `1h`, `7d`, or of a plain number. */
export const parseDuration = (text: string): number => parseSeconds(text, MAX_DURATION_DAYS);

/** A duration for which the command waits. */
export const parseWait = (text: string): number => parseSeconds(text, MAX_WAIT_DAYS);

function parseSeconds(text: string, maxDays: number): number {
  const [, digits = '', unit = 's'] = /^(\d{1,9})([smhd])?$/.exec(text) ?? [];
  const seconds = Number(digits) * (UNIT_SECONDS[unit] ?? Number.NaN);
  if (!digits || seconds === 0)
    throw new InvalidArgumentError('Expected a duration such as 90s, 15m, 1h or 7d.');
  if (seconds > maxDays * 86_400) throw new InvalidArgumentError(`Expected at most ${maxDays}d.`);
  return seconds;
}

/** Milliseconds of `12.5`, `1:02.5`, `1:00:00`. */
export function parseMediaTime(text: string): number {
  const [, hours = '0', minutes = '0', seconds = '', fraction = ''] =
    /^(?:(?:(\d{1,3}):)?(\d{1,3}):)?(\d{1,6})(?:\.(\d{1,3}))?$/.exec(text) ?? [];
  if (!seconds) throw new InvalidArgumentError('Expected a time such as 12.5, 1:02.5 or 1:00:00.');
  return (
    ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + Number(fraction.padEnd(3, '0'))
  );
}

const UNIT_BYTES: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** Bytes of `500k`, `16M`, `2GiB`, or of a plain number. */
export function parseBytes(text: string): number {
  const [, digits = '', unit = ''] = /^(\d{1,12})(?:([kmg])(?:i?b)?)?$/i.exec(text) ?? [];
  if (!digits) throw new InvalidArgumentError('Expected a number of bytes such as 500k, 16M or 1G.');
  return Number(digits) * (UNIT_BYTES[unit.toLowerCase()] ?? 1);
}

export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Expected a positive integer.');
  return Number(text);
}

/** A number within these bounds. */
export const parseBetween =
  (min: number, max: number) =>
  (text: string): number => {
    const number = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    if (!(number >= min && number <= max))
      throw new InvalidArgumentError(`Expected a number from ${min} to ${max}.`);
    return number;
  };

const PART = '(0(?:\\.\\d+)?|1(?:\\.0+)?)';
const POINT = new RegExp(`^${PART},${PART}$`);

/** A point of a picture, as parts of its width and height: `0.3,0.6`. */
export function parsePoint(text: string): { x: number; y: number } {
  const [, x, y] = POINT.exec(text) ?? [];
  if (x === undefined || y === undefined)
    throw new InvalidArgumentError('Expected a point from 0,0 (top left) to 1,1 such as 0.3,0.6.');
  return { x: Number(x), y: Number(y) };
}

export function parseJsonObject(text: string): Record<string, unknown> {
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new InvalidArgumentError('Expected a JSON object such as {"order_id":1042}.');
  return value as Record<string, unknown>;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** For options that may be given several times. */
export const collect = (value: string, earlier: readonly string[] = []): string[] => [...earlier, value];

/** Members of metadata that a list compares, each as `name=value`. */
export function collectMember(text: string, earlier: Readonly<Record<string, string>> = {}) {
  const end = text.indexOf('=');
  if (end < 1) throw new InvalidArgumentError('Expected a member and its value such as order_id=1042.');
  return { ...earlier, [text.slice(0, end)]: text.slice(end + 1) };
}

export function parseHeader(text: string, earlier: Readonly<Record<string, string>> = {}) {
  const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*(.*)$/.exec(text) ?? [];
  if (!name || value === undefined) throw new InvalidArgumentError('Expected "Name: value".');
  return { ...earlier, [name]: value };
}
