// Parses Range headers with one range; any other header is ignored (RFC 9110 §14).
import type { ByteRange } from './object-store.ts';

const FORM = /^bytes=(\d{0,15})-(\d{0,15})$/;

/** Undefined: send the whole object. `unsatisfiable`: respond with 416. */
export function parseRange(
  header: string | undefined,
  sizeBytes: number,
): ByteRange | 'unsatisfiable' | undefined {
  const match = FORM.exec(header ?? '');
  if (!match) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '') return suffix(last, sizeBytes);
  const start = Number(first);
  const end = last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1);
  if (last !== '' && Number(last) < start) return undefined;
  return start < sizeBytes ? { start, end } : 'unsatisfiable';
}

function suffix(length: string, sizeBytes: number): ByteRange | 'unsatisfiable' | undefined {
  if (length === '') return undefined;
  if (Number(length) === 0 || sizeBytes === 0) return 'unsatisfiable';
  return { start: Math.max(0, sizeBytes - Number(length)), end: sizeBytes - 1 };
}
