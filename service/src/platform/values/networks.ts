// Addresses and networks of clients, IPv4 and IPv6.
import { BlockList, isIP } from 'node:net';

const PREFIX = /^(?:\/(\d{1,3}))?$/;

/** An address or network as `address/prefix`; undefined for other text. IPv4 inside IPv6 is none. */
export function parseNetwork(text: string): string | undefined {
  const [, address = '', rest = ''] = /^([^/]*)(.*)$/.exec(text.toLowerCase()) ?? [];
  const longest = isIP(address) === 4 ? 32 : 128;
  const [match, prefix = longest] = PREFIX.exec(rest) ?? [];
  const isNetwork = isIP(address) !== 0 && match !== undefined && Number(prefix) <= longest;
  return isNetwork && !/^::ffff:|%/.test(address) ? `${address}/${Number(prefix)}` : undefined;
}

/** By the list of networks. */
const matchers = new WeakMap<readonly string[], BlockList>();

/** `networks`: results of `parseNetwork`. False for text that is no address. */
export function isInNetworks(networks: readonly string[], address: string): boolean {
  const matcher = matchers.get(networks) ?? createBlockList(networks);
  matchers.set(networks, matcher);
  const plain = unmapAddress(address);
  return isIP(plain) !== 0 && matcher.check(plain, familyOf(plain));
}

const MAPPED = /^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i;

/** The IPv4 address, where a listener for both families shows it inside IPv6. */
export const unmapAddress = (address: string): string => address.replace(MAPPED, '');

/** `networks`: as `address/prefix`. */
export function createBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    list.addSubnet(address, Number(prefix), familyOf(address));
  }
  return list;
}

/** Of an address. */
export const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 4 ? 'ipv4' : 'ipv6');
