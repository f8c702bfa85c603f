// Resolves the host of an outbound request once, and refuses it unless every address may be reached.
import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { type AddressPolicy, addressOf, isAllowedAddress } from './address-policy.ts';
import { OutboundError } from './outbound-error.ts';

export type ResolveHost = (host: string) => Promise<readonly LookupAddress[]>;

/** The resolver of the operating system: private networks name hosts in /etc/hosts and search domains. */
export const resolveBySystem: ResolveHost = (host) => lookup(host, { all: true, order: 'verbatim' });

type Resolution = { readonly policy: AddressPolicy; readonly resolve: ResolveHost };

/** The connection must use these addresses: a second lookup could return others (DNS rebinding). */
export async function resolveAllowed(
  url: URL,
  { policy, resolve }: Resolution,
): Promise<readonly LookupAddress[]> {
  const literal = addressOf(url);
  const addresses =
    literal === undefined
      ? await resolveName(url.hostname, resolve)
      : [{ address: literal, family: isIP(literal) }];
  // One private address among public ones is an attack or a mistake; connecting to the rest would hide it.
  if (!addresses.every(({ address }) => isAllowedAddress(address, policy)))
    throw new OutboundError('address_refused', {
      detail: literal === undefined ? 'private_name' : 'private_address',
    });
  return addresses;
}

async function resolveName(host: string, resolve: ResolveHost): Promise<readonly LookupAddress[]> {
  const addresses = await resolve(host).catch((cause: NodeJS.ErrnoException) => {
    throw new OutboundError('dns_failed', { detail: cause.code, cause });
  });
  if (addresses.length === 0) throw new OutboundError('dns_failed', { detail: 'no_address' });
  return addresses;
}
