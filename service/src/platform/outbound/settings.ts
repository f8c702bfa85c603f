// OUTBOUND_ALLOW_PRIVATE: which kinds of outbound requests may reach private addresses (contract B8).
import { list } from '../settings/setting.ts';

const OUTBOUND_PURPOSES = ['webhooks', 'import'] as const;
export type OutboundPurpose = (typeof OUTBOUND_PURPOSES)[number];

export const outboundAllowPrivate = list(
  'OUTBOUND_ALLOW_PRIVATE',
  'Lets these requests of the service reach private addresses and this machine; metadata services of ' +
    'clouds ' +
    'stay refused.',
  { byDefault: 'none', allowed: OUTBOUND_PURPOSES.join(', '), parse: parsePurposes },
);

function parsePurposes(
  named: readonly string[],
  report: (problem: string) => void,
): readonly OutboundPurpose[] {
  const allowed = OUTBOUND_PURPOSES.filter((purpose) => named.includes(purpose));
  if (allowed.length < new Set(named).size)
    report(`OUTBOUND_ALLOW_PRIVATE may name ${OUTBOUND_PURPOSES.join(' and ')} only`);
  return allowed;
}

/** Warnings at start. */
export const outboundWarnings = (allowed: readonly OutboundPurpose[]): string[] =>
  allowed.map(
    (purpose) =>
      `OUTBOUND_ALLOW_PRIVATE names ${purpose}: ${purpose} can reach the private network and this machine`,
  );
