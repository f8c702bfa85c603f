// `config`: profiles with URL and credentials, and the settings in use.
import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { Writable } from 'node:stream';
import { type Command, Option } from 'commander';
import type { CommandContext, Handler, Io, Runner } from '../context.ts';
import { CliError, EXIT, usageError } from '../exit-codes.ts';
import {
  findProfilePath,
  type Profile,
  type ProfileFile,
  readProfiles,
  writeProfiles,
} from '../settings/profiles.ts';
import { DEFAULT_URL, normalizeUrl } from '../settings/settings.ts';
import { formatFields, formatTable } from '../text.ts';

const KINDS = { token: 'token', 'service-key': 'service_key', 'operator-key': 'operator_key' } as const;
type Kind = keyof typeof KINDS;

export function addConfigCommands(program: Command, run: Runner): void {
  const config = program.command('config').description('Manage profiles: a URL with its credentials');
  config
    .command('login')
    .description('Store URL and credentials in a profile; reads the secret from stdin, without echo')
    .argument('[profile]', 'name of the profile', 'default')
    .addOption(new Option('--as <kind>', 'what the secret is').choices(Object.keys(KINDS)).default('token'))
    .action(run(login));
  config.command('show').description('Show the settings in use and where they come from').action(run(show));
  config.command('list').description('List the profiles').action(run(list));
  config
    .command('use')
    .description('Choose the profile for the next commands')
    .argument('<profile>', 'name of the profile')
    .action(run(use));
  config
    .command('remove')
    .description('Remove a profile')
    .argument('<profile>', 'name of the profile')
    .action(run(remove));
}

const login: Handler<{ readonly as: Kind }> = async (context, [name = 'default'], { as }) => {
  const { io, flags, output } = context;
  const path = findProfilePath(io.env);
  const file = await readProfiles(path);
  const stored = file.profiles[name];
  const url = normalizeUrl(flags.url || io.env['MEDIARY_URL'] || stored?.url || DEFAULT_URL);
  const secret = secretFlag(context, as) ?? (await readSecret(io, `${as} for ${url}: `));
  if (!secret)
    throw usageError('No secret was given.', `Example: mediary config login --as ${as} < secret.txt`);
  const profile = mergeProfile(stored, { url, member: KINDS[as], secret, owner: flags.owner });
  await writeProfiles(path, { current: name, profiles: { ...file.profiles, [name]: profile } });
  output.result({ profile: name, url, file: path }, () => `Profile "${name}" (${url}) is stored in ${path}`);
};

const secretFlag = ({ flags }: CommandContext, kind: Kind): string | undefined =>
  ({ token: flags.token, 'service-key': flags.serviceKey, 'operator-key': flags.operatorKey })[kind];

type Credentials = {
  readonly url: string;
  readonly member: (typeof KINDS)[Kind];
  readonly secret: string;
  readonly owner: string | undefined;
};

/** A profile of another URL is replaced. A token replaces a service key and the reverse. */
function mergeProfile(stored: Profile | undefined, { url, member, secret, owner }: Credentials): Profile {
  const { token, service_key, ...kept } = stored?.url === url ? stored : ({ url } satisfies Profile);
  return {
    ...kept,
    ...(member === 'operator_key' && token && { token }),
    ...(member === 'operator_key' && service_key && { service_key }),
    [member]: secret,
    ...(owner && { owner }),
  };
}

async function readSecret(io: Io, question: string): Promise<string> {
  if (!io.stdin.isTTY) return (await text(io.stdin)).trim();
  io.stderr.write(question);
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: io.stdin, output: hidden, terminal: true });
  try {
    return (await lines.question('', { signal: io.signal })).trim();
  } finally {
    lines.close();
    io.stderr.write('\n');
  }
}

const show: Handler = async (context) => {
  const settings = await context.loadSettings();
  const { url, profile, credential, owner, operatorKey, sources } = settings;
  const secret = credential && (credential.kind === 'token' ? credential.token : credential.key);
  const value = {
    url,
    profile: profile ?? null,
    credential: credential ? { kind: credential.kind, value: mask(secret) } : null,
    operator_key: operatorKey ? mask(operatorKey) : null,
    owner: owner ?? null,
    sources,
    file: findProfilePath(context.io.env),
  };
  const from = (source: string | undefined): string => (source ? ` (${source})` : '');
  context.output.result(value, () =>
    formatFields([
      ['url', url + from(sources.url)],
      ['profile', profile ?? 'none'],
      [credential?.kind ?? 'credentials', credential ? mask(secret) + from(sources.credential) : 'none'],
      ['operator key', operatorKey ? mask(operatorKey) + from(sources.operatorKey) : 'none'],
      ['owner', owner ? owner + from(sources.owner) : 'none'],
      ['profile file', value.file],
    ]),
  );
};

/** Enough to recognise a secret, too little to use it. */
const mask = (secret = ''): string => (secret.length < 16 ? '…' : `${secret.slice(0, 4)}…`);

const list: Handler = async ({ io, output }) => {
  const { current, profiles } = await readProfiles(findProfilePath(io.env));
  const rows = Object.entries(profiles).map(([name, profile]) => ({
    name,
    url: profile.url,
    owner: profile.owner ?? null,
    credentials: Object.values(KINDS).filter((member) => profile[member]),
    current: name === current,
  }));
  output.result({ items: rows }, () =>
    formatTable(
      ['', 'NAME', 'URL', 'CREDENTIALS'],
      rows.map((row) => [row.current ? '*' : ' ', row.name, row.url, row.credentials.join(', ')]),
    ),
  );
};

const use: Handler = (context, [name = '']) =>
  changeProfiles(context, name, (file) => ({ ...file, current: name }));

const remove: Handler = (context, [name = '']) =>
  changeProfiles(context, name, ({ current, profiles: { [name]: _removed, ...profiles } }) => ({
    current: current === name ? undefined : current,
    profiles,
  }));

async function changeProfiles(
  { io, output }: CommandContext,
  name: string,
  change: (file: ProfileFile) => ProfileFile,
): Promise<void> {
  const path = findProfilePath(io.env);
  const file = await readProfiles(path);
  if (!Object.hasOwn(file.profiles, name)) throw new CliError(`There is no profile "${name}".`, EXIT.usage);
  const changed = change(file);
  await writeProfiles(path, changed);
  output.result({ current: changed.current ?? null }, () => `Current profile: ${changed.current ?? 'none'}`);
}
