// Reads OUTBOUND_ALLOW_PRIVATE: which kinds of outbound requests may reach private addresses (contract B8).
import type { Settings } from '../settings.ts';

const OUTBOUND_PURPOSES = ['webhooks', 'import'] as const;
export type OutboundPurpose = (typeof OUTBOUND_PURPOSES)[number];

export function readOutboundAllowPrivate({ list, problems }: Settings): readonly OutboundPurpose[] {
  const named = list('OUTBOUND_ALLOW_PRIVATE');
  const allowed = OUTBOUND_PURPOSES.filter((purpose) => named.includes(purpose));
  if (allowed.length < new Set(named).size)
    problems.push(`OUTBOUND_ALLOW_PRIVATE may name ${OUTBOUND_PURPOSES.join(' and ')} only`);
  return allowed;
}

/** Warnings at start. */
export const outboundWarnings = (allowed: readonly OutboundPurpose[]): string[] =>
  allowed.map(
    (purpose) =>
      `OUTBOUND_ALLOW_PRIVATE names ${purpose}: ${purpose} can reach the private network and this machine`,
  );
