// Durations in texts, such as "2h".

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** A number and a unit (`ms`, `s`, `m`, `h`, `d`). */
export type Duration = `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

export function toMilliseconds(duration: Duration): number {
  const [, count = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(duration) ?? [];
  const factor = UNITS_MS[unit];
  if (factor === undefined)
    throw new TypeError(
      `"${duration}" is not a duration. Allowed: a number and ms, s, m, h or d, such as 2h`,
    );
  return Math.round(Number(count) * factor);
}
