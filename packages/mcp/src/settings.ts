// The settings of one run: flags of the client's configuration, and the environment variables of the CLI.
import { parseArgs } from 'node:util';

type Credential = { readonly token: string } | { readonly serviceKey: string };

export type McpSettings = {
  /** Without a trailing slash. */
  readonly url: string;
  readonly credential: Credential | undefined;
  readonly operatorKey: string | undefined;
  /** The owner of calls with a service key that name none. */
  readonly owner: string | undefined;
  readonly canWrite: boolean;
  /** Uploads may read files of this folder only. */
  readonly root: string;
};

/** Wrong flags or variables. The message is for the person who wrote the configuration. */
export class SettingsError extends Error {}

type ProcessInput = {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  cwd(): string;
};

const DEFAULT_URL = 'http://127.0.0.1:8080';

export const USAGE = `mediary-mcp: a Model Context Protocol server for Mediary, on stdin and stdout.

Options:
  --write        offer the tools that upload, change and delete assets
  --root DIR     with --write: upload files of this folder only (default: the current folder)
  --version      print the version
  --help         print this text

Environment: MEDIARY_URL (default ${DEFAULT_URL}), MEDIARY_TOKEN or MEDIARY_SERVICE_KEY with
MEDIARY_OWNER, and MEDIARY_OPERATOR_KEY.
`;

/** `help` and `version` end the process; otherwise the server runs with the settings. */
export function readSettings({ argv, env, cwd }: ProcessInput): McpSettings | 'help' | 'version' {
  const { values } = parseFlags(argv.slice(2));
  if (values.help) return 'help';
  if (values.version) return 'version';
  if (values.root !== undefined && !values.write)
    throw new SettingsError('--root has no effect without --write.');
  return {
    url: normalizeUrl(env['MEDIARY_URL'] || DEFAULT_URL),
    credential: findCredential(env),
    operatorKey: env['MEDIARY_OPERATOR_KEY'] || undefined,
    owner: env['MEDIARY_OWNER'] || undefined,
    canWrite: values.write === true,
    root: values.root ?? cwd(),
  };
}

function parseFlags(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        write: { type: 'boolean' },
        root: { type: 'string' },
        version: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new SettingsError(error instanceof Error ? error.message : String(error));
  }
}

/** The origin, and the path of a service that is not at the root. `/api/v1` at the end is dropped. */
function normalizeUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new SettingsError('MEDIARY_URL is not an http or https URL. Example: https://media.example.com');
  if (url.username || url.password)
    throw new SettingsError('MEDIARY_URL must not contain a user name or password.');
  return url.origin + url.pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
}

function findCredential(env: ProcessInput['env']): Credential | undefined {
  const token = env['MEDIARY_TOKEN'];
  const serviceKey = env['MEDIARY_SERVICE_KEY'];
  if (token && serviceKey)
    throw new SettingsError('Unset MEDIARY_TOKEN or MEDIARY_SERVICE_KEY: the API accepts one of them.');
  if (token) return { token };
  return serviceKey ? { serviceKey } : undefined;
}
