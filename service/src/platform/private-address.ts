// Classifies hosts as private, loopback or public.
import { BlockList, isIP } from 'node:net';

const PRIVATE = blockList([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/3',
  '::/127',
  'fc00::/7',
  'fe80::/10',
  'ff00::/8',
]);
const LOOPBACK = blockList(['127.0.0.0/8', '::1/128']);

/** `host` as written in a URL. Names of local resolvers are private; public names are not resolved. */
export const isPrivateHost = (host: string): boolean =>
  isListed(PRIVATE, host) ??
  (!host.includes('.') || /\.(?:localhost|local|internal|lan|home\.arpa)\.?$/i.test(host));

export const isLoopbackHost = (host: string): boolean =>
  isListed(LOOPBACK, host) ?? /^(?:.+\.)?localhost$/i.test(host);

/** Undefined when the host is a name. */
function isListed(list: BlockList, host: string): boolean | undefined {
  const address = host.replace(/^\[|\]$/g, '');
  const version = isIP(address);
  return version === 0 ? undefined : list.check(address, version === 6 ? 'ipv6' : 'ipv4');
}

function blockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    list.addSubnet(address, Number(bits), address.includes(':') ? 'ipv6' : 'ipv4');
  }
  return list;
}
