// Classifies addresses and hosts as public, private, loopback or reserved.
import { type BlockList, isIP } from 'node:net';
import { createBlockList, familyOf } from '../values/networks.ts';

type AddressClass = 'public' | 'private' | 'reserved';

/** No service has its address here (IANA special-purpose registries), or a cloud answers with credentials. */
const RESERVED = createBlockList([
  '0.0.0.0/8',
  // Metadata services: all clouds (link-local), Alibaba, Azure, Oracle, AWS, Oracle, Google, Scaleway.
  '169.254.0.0/16',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.0/24',
  'fd00:ec2::/32',
  'fd00:c1::/32',
  'fd20:ce::/32',
  'fd00:42::/32',
  // Documentation.
  '192.0.2.0/24',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '2001:db8::/32',
  '3fff::/20',
  // IPv6 addresses that contain an IPv4 address: 6to4, and Teredo with its neighbours.
  '2002::/16',
  '2001::/23',
  '192.88.99.0/24',
  // Multicast, reserved, broadcast.
  '224.0.0.0/3',
]);
const PRIVATE_V4 = createBlockList([
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '198.18.0.0/15',
]);
/** A list of its own: a mapped address (::ffff:10.0.0.1) matches the IPv4 networks of its list. */
const PRIVATE_V6 = createBlockList(['::1/128', 'fc00::/7']);
/** Everything else is unassigned, link-local, multicast, mapped or translated (NAT64). */
const GLOBAL_UNICAST_V6 = createBlockList(['2000::/3']);
const LOOPBACK = createBlockList(['127.0.0.0/8', '::1/128']);

/** `host` as written in a URL. Names of local resolvers are private; public names are not resolved. */
export const isPrivateHost = (host: string): boolean =>
  isIP(withoutBrackets(host)) === 0
    ? !host.includes('.') || /\.(?:localhost|local|internal|lan|home\.arpa)\.?$/i.test(host)
    : classifyAddress(withoutBrackets(host)) !== 'public';

export const isLoopbackHost = (host: string): boolean =>
  isListed(LOOPBACK, host) ?? /^(?:.+\.)?localhost$/i.test(host);

/** `address` as a resolver returns it. What is no address, or has a zone, is reserved. */
export function classifyAddress(address: string): AddressClass {
  const version = isIP(address);
  if (version === 0 || address.includes('%')) return 'reserved';
  const isIn = (list: BlockList) => list.check(address, familyOf(address));
  if (isIn(RESERVED)) return 'reserved';
  if (isIn(version === 4 ? PRIVATE_V4 : PRIVATE_V6)) return 'private';
  return version === 4 || isIn(GLOBAL_UNICAST_V6) ? 'public' : 'reserved';
}

const withoutBrackets = (host: string): string => host.replace(/^\[|\]$/g, '');

/** Undefined when the host is a name. */
function isListed(list: BlockList, host: string): boolean | undefined {
  const address = withoutBrackets(host);
  return isIP(address) === 0 ? undefined : list.check(address, familyOf(address));
}
