// Parses DATABASE_URL: one or several servers. The service uses the one that takes writes.

type DatabaseUrl = {
  /** A URL for each server, as `pg` reads it. */
  readonly servers: readonly string[];
  /** Refuses servers in recovery. */
  readonly isPrimaryOnly: boolean;
};

export const DATABASE_URL_FORM =
  'must be a URL such as postgres://user:password@db1:5432,db2:5432/mediary?sslmode=verify-full';

/** The user name and password, which end at the last @; the servers; the database and parameters. */
const URL_FORM = /^postgres(?:ql)?:\/\/(?:([^/?#]*)@)?([^/?#@]*)(\/[^?#]*)?(?:\?([^#]*))?$/;
const SSL_MODES = ['disable', 'no-verify', 'prefer', 'require', 'verify-ca', 'verify-full'];
/** Other values of libpq are for readers. */
const SESSION_ATTRIBUTES = ['any', 'read-write', 'primary'];

/** Throws an error whose message never contains a part of the text, which may be one of the password. */
export function parseDatabaseUrl(text: string): DatabaseUrl {
  const [matched, credentials, authority = '', path = '', query = ''] = URL_FORM.exec(text) ?? [];
  if (matched === undefined)
    throw new Error(
      'it is not a postgres URL. In names and passwords write / ? # @ : % as %2F %3F %23 %40 %3A %25',
    );
  const parameters = new URLSearchParams(query);
  const target = takeChoice(parameters, 'target_session_attrs', SESSION_ATTRIBUTES);
  const sslMode = takeChoice(parameters, 'sslmode', SSL_MODES);
  if (sslMode !== undefined) parameters.set('sslmode', sslMode);
  const servers = parameters.has('host') ? splitParameters(parameters, authority) : splitAuthority(authority);
  const user = credentials === undefined ? '' : `${credentials}@`;
  const urls = servers.map(({ server, own }) =>
    toUrl(`postgres://${user}${server}${path || '/'}`, [...parameters, ...own]),
  );
  return { servers: urls, isPrimaryOnly: target === undefined ? urls.length > 1 : target !== 'any' };
}

function takeChoice(
  parameters: URLSearchParams,
  name: string,
  allowed: readonly string[],
): string | undefined {
  const value = parameters.get(name);
  parameters.delete(name);
  if (value !== null && !allowed.includes(value))
    throw new Error(`its ${name} must be one of ${allowed.join(', ')}`);
  return value ?? undefined;
}

type Server = { readonly server: string; readonly own: Parameters };
type Parameters = readonly (readonly [name: string, value: string])[];

const splitAuthority = (authority: string): Server[] =>
  authority.split(',').map((server, index) => {
    assertServer(server, index + 1);
    return { server, own: [] };
  });

/** libpq's other form, which folders of sockets need: `?host=db1,db2&port=5432,5433`. */
function splitParameters(parameters: URLSearchParams, authority: string): Server[] {
  if (authority !== '') throw new Error('it has servers before the path and also a parameter "host"');
  const hosts = parameters.get('host')?.split(',') ?? [];
  const ports = parameters.get('port')?.split(',') ?? [];
  parameters.delete('host');
  parameters.delete('port');
  if (ports.length > 1 && ports.length !== hosts.length)
    throw new Error(`its parameter "port" must have one port, or one for each of the ${hosts.length} hosts`);
  return hosts.map((host, index) => {
    const port = ports[index] ?? ports[0] ?? '5432';
    assertPort(port, index + 1);
    return {
      server: '',
      own: [
        ['host', host],
        ['port', port],
      ],
    };
  });
}

const SERVER_FORM = /^(?:\[[0-9a-f:.]+\]|[^:[\]\s]*)(?::(.*))?$/i;

function assertServer(server: string, number: number): void {
  const [matched, port] = SERVER_FORM.exec(server) ?? [];
  if (matched === undefined)
    throw new Error(
      `its server ${number} must be a host name, an IPv4 address or an IPv6 address in brackets`,
    );
  if (port !== undefined) assertPort(port, number);
}

function assertPort(port: string, number: number): void {
  if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535)
    throw new Error(
      `the port of its server ${number} must be a number from 1 to 65535; write an IPv6 address in brackets`,
    );
}

function toUrl(address: string, parameters: Parameters): string {
  const query = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
  const url = query === '' ? address : `${address}?${query}`;
  // The user name and the password are checked too: `pg` decodes them.
  if (!canDecode(url)) throw new Error('it has a % without two hexadecimal digits: write %25');
  return url;
}

function canDecode(text: string): boolean {
  try {
    return decodeURIComponent(text) !== '';
  } catch {
    return false;
  }
}
