// Verifies edgehost webhooks: HMAC-SHA256 of time and raw body, with a limited age (contract A5, B6).
import type { Secret } from '../../auth/secret.ts';
import { equalHex, type HeaderValues, hmacSha256 } from '../../auth/signature.ts';

type EdgehostRule = {
  readonly secrets: readonly Secret[];
  readonly nowSeconds: number;
  /** Maximum difference from the current time in both directions; 0: unlimited. */
  readonly toleranceSeconds: number;
};

const HEADER = 'webhook-signature';
const TIME = /^[0-9]{1,12}$/;
/** Proxies add blanks around commas. Two joined headers are rejected because of the second `time`. */
const COMMA = /[ \t]*,[ \t]*/;

export function checkEdgehostSignature(headers: HeaderValues, body: Uint8Array, rule: EdgehostRule): boolean {
  const [header, ...more] = headers(HEADER);
  if (header === undefined || more.length > 0) return false;
  const { times, signatures } = parse(header);
  const [time, ...moreTimes] = times;
  if (time === undefined || moreTimes.length > 0 || !isRecent(time, rule)) return false;
  return rule.secrets.some((secret) => {
    const expected = digest(time, body, secret);
    return signatures.some((signature) => equalHex(signature, expected));
  });
}

/** Formats the value of the signature header. */
export const signEdgehost = (body: Uint8Array, secret: Secret, timeSeconds: number): string =>
  `time=${timeSeconds},sig1=${digest(String(timeSeconds), body, secret).toString('hex')}`;

function parse(header: string): { times: string[]; signatures: string[] } {
  const pairs = header.split(COMMA).map(splitAtFirstEquals);
  const valuesOf = (wanted: string) => pairs.filter(([name]) => name === wanted).map(([, value]) => value);
  return { times: valuesOf('time'), signatures: valuesOf('sig1') };
}

function splitAtFirstEquals(pair: string): readonly [name: string, value: string] {
  const [name = '', ...rest] = pair.split('=');
  return [name, rest.join('=')];
}

const isRecent = (time: string, { nowSeconds, toleranceSeconds }: EdgehostRule): boolean =>
  TIME.test(time) &&
  (toleranceSeconds === 0 || Math.abs(Math.floor(nowSeconds) - Number(time)) <= toleranceSeconds);

/** Signs the received text of the time, because a parsed number may have another spelling. */
const digest = (time: string, body: Uint8Array, secret: Secret): Buffer =>
  hmacSha256(secret.key, time, '.', body);
