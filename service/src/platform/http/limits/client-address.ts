// Reduces a client's IP address to the part that the client cannot change.
import { isIPv4, isIPv6 } from 'node:net';
import { unmapAddress } from '../../values/networks.ts';

/**
 * The IPv4 address, or the /64 network of an IPv6 address, which one household controls. Undefined when the
 * text is no address.
 */
export function addressKey(address: string): string | undefined {
  const unmapped = unmapAddress(address);
  if (isIPv4(unmapped)) return unmapped;
  const [plain = ''] = unmapped.split('%');
  return isIPv6(plain) ? `${firstGroups(plain).join(':')}::/64` : undefined;
}

/** The first four of eight groups, without leading zeros. */
function firstGroups(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const before = head.split(':').filter(Boolean);
  const after = (tail ?? '').split(':').filter(Boolean);
  // An IPv4 part at the end stands for two groups.
  const length = before.length + after.length + (address.includes('.') ? 1 : 0);
  const zeros = Array.from({ length: Math.max(0, 8 - length) }, () => '0');
  const groups = tail === undefined ? before : [...before, ...zeros, ...after];
  return groups.slice(0, 4).map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''));
}
