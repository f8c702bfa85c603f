// `dev`: the service, its simulated providers and a listener in one terminal, for a developer's machine.
import { resolve } from 'node:path';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createMediary, type StreamedEvent } from '@mediary/client';
import { type Command, InvalidArgumentError } from 'commander';
import { type CommandContext, type Handler, MAX_RETRIES, type Runner } from '../../context.ts';
import { openDevFolder } from '../../develop/dev-folder.ts';
import { findService, type InstalledService } from '../../develop/find-service.ts';
import { type ServiceProcess, startServiceProcess } from '../../develop/service-process.ts';
import { openEventStream } from '../../events/event-stream.ts';
import { createForwardSecret } from '../../events/webhook-forwarder.ts';
import { CliError, EXIT, usageError } from '../../exit-codes.ts';
import { createOperatorApi } from '../../operator-api.ts';
import { describeCause, toExitCode } from '../../failure.ts';
import { findLocalSecrets, type LocalSecrets } from '../../settings/local-secrets.ts';
import { createDevLog, type DevLog } from './dev-log.ts';
import { createForwarder, findSecret, parseEndpoint, parseSecret, RETRY_DELAYS_MS } from './forwarding.ts';

type DevFlags = {
  readonly forwardTo?: string;
  readonly secret?: string;
  readonly port?: number;
  readonly fresh?: boolean;
  readonly simulators: boolean;
  readonly repository?: string;
};

export const addDevCommand = (program: Command, run: Runner): Command =>
  program
    .command('dev')
    .description('Run the service with simulated providers and a listener, for development')
    .option('--forward-to <url>', 'URL of your server that receives all events as webhooks', parseEndpoint)
    .option('--secret <secret>', 'secret that signs; default: one that stays in the data folder', parseSecret)
    .option('--port <port>', 'port of the service; default: PORT, else 8080', parsePort)
    .option('--fresh', 'empty the data folder first; only one that mediary dev created')
    .option('--no-simulators', 'do not simulate the hosted providers')
    .option('--repository <folder>', 'clone of the Mediary repository; default: found by itself')
    .addHelpText('after', EXAMPLES)
    .action(run(develop));

const EXAMPLES = `
Examples:
  mediary dev --forward-to http://localhost:3000/webhooks/media
  mediary dev --url http://127.0.0.1:8080    uses a service that runs`;

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new InvalidArgumentError('Expected a port from 1 to 65535.');
}

const develop: Handler<DevFlags> = async (context, _args, flags) => {
  const log = createDevLog(context.output);
  if (context.flags.url !== undefined) return followRunning(context, flags, log);
  assertLocal(context, flags);
  const { env, folder } = context.io;
  const installed = await findService(flags.repository, folder);
  const port = flags.port ?? parsePort(env['PORT'] || '8080');
  await assertFreePort(port, env['HOST'] || '127.0.0.1');
  const dataFolder = resolve(folder, env['DATA_DIR'] || '.mediary');
  const { webhookSecret, notes } = await openDevFolder(dataFolder, { isFresh: flags.fresh === true });
  for (const note of notes) context.output.note(note);
  context.output.note(`Starting the service of ${installed.folder} …`);
  const service = startService(context, flags, { installed, port, dataFolder, log });
  const died = service.ended.then((why) => {
    throw new CliError(`The service has ended: ${why}`, EXIT.failed);
  });
  try {
    const address = await Promise.race([service.started, died, aborted(context.signal)]);
    const keys = toKeys(env, await findLocalSecrets({ DATA_DIR: dataFolder }, folder));
    const secret = findSecret(flags.secret, context.io) ?? webhookSecret;
    const consoleUrl = await findConsoleUrl(address, keys.operatorKey, context.signal);
    log.start({ ...keys, address, consoleUrl, secret, forwardTo: flags.forwardTo, dataFolder });
    const mediary = createMediary({ baseUrl: address, serviceKey: keys.serviceKey ?? '' });
    const stopping = new AbortController();
    const signal = AbortSignal.any([context.signal, stopping.signal]);
    const followed = follow(mediary.events.stream({ signal }), { flags, secret, signal, log });
    await Promise.race([followed, died]).finally(() => stopping.abort());
  } finally {
    context.output.note('Stopping the service …');
    await service.stop();
  }
};

/** Refuses what would be left out in silence. */
function assertLocal({ io: { env } }: CommandContext, { fresh }: DevFlags): void {
  const elsewhere = ['DATABASE_URL', 'STORAGE_URL'].find((name) => env[name]);
  if (fresh && elsewhere)
    throw usageError(`--fresh empties the data folder alone, and ${elsewhere} names another place.`);
}

async function assertFreePort(port: number, host: string): Promise<void> {
  const server = createServer().listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const isUsed = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    throw usageError(
      isUsed ? `Port ${port} is in use.` : `Port ${port} of ${host}: ${describeCause(error)}`,
      `Another port: mediary dev --port ${port + 1}\n` +
        `The service that runs there: mediary dev --url http://127.0.0.1:${port}`,
    );
  }
  server.close();
  await once(server, 'close');
}

type StartOptions = {
  readonly installed: InstalledService;
  readonly port: number;
  readonly dataFolder: string;
  readonly log: DevLog;
};

/** Simulators take free ports, so that several services run on one machine. */
function startService(
  { io }: CommandContext,
  { simulators }: DevFlags,
  { installed, port, dataFolder, log }: StartOptions,
): ServiceProcess {
  return startServiceProcess(installed, {
    args: simulators ? ['--simulate'] : [],
    folder: io.folder,
    env: {
      ...{ CDNHOST_PORT: '0', EDGEHOST_PORT: '0', OUTBOUND_ALLOW_PRIVATE: 'webhooks,import' },
      ...io.env,
      ...{ DATA_DIR: dataFolder, PORT: String(port), MEDIARY_ROLE: 'all', LOG_FORMAT: 'json' },
    },
    onLine: log.service,
  });
}

const toKeys = (env: CommandContext['io']['env'], local: LocalSecrets | undefined) => ({
  serviceKey: env['SERVICE_API_KEY'] || local?.serviceKey,
  operatorKey: env['OPERATOR_KEY'] || local?.operatorKey,
  accessTokenSecret: env['ACCESS_TOKEN_SECRET'] || local?.accessTokenSecret,
});

type FollowOptions = {
  readonly flags: DevFlags;
  readonly secret: string;
  readonly signal: AbortSignal;
  readonly log: DevLog;
};

/** Prints events, or forwards them and prints the results. Ends with an error alone. */
async function follow(
  events: AsyncIterable<StreamedEvent>,
  { flags: { forwardTo: endpoint }, secret, signal, log }: FollowOptions,
): Promise<never> {
  const forward =
    endpoint === undefined
      ? log.event
      : createForwarder({ endpoint, secret, signal, retryDelaysMs: RETRY_DELAYS_MS }, log.forwarded);
  try {
    for await (const event of events) await forward(event);
  } catch (error) {
    signal.throwIfAborted();
    throw new CliError(`The listener has ended: ${describeCause(error)}`, EXIT.failed);
  }
  throw new CliError('The listener has ended: the event stream is over.', EXIT.failed);
}

/** Undefined without an operator key, and where CONSOLE is off. */
async function findConsoleUrl(
  url: string,
  operatorKey: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (operatorKey === undefined) return undefined;
  const api = createOperatorApi({ url, operatorKey, signal, maxRetries: MAX_RETRIES });
  return api.post<{ readonly url: string }>('/console-links', {}).then(
    (link) => link.url,
    (error: unknown) => {
      if (toExitCode(error) === EXIT.notFound) return undefined;
      throw error;
    },
  );
}

const aborted = async (signal: AbortSignal): Promise<never> => {
  if (!signal.aborted) await once(signal, 'abort');
  throw signal.reason;
};

/** With --url: the listener alone. */
async function followRunning(context: CommandContext, flags: DevFlags, log: DevLog): Promise<void> {
  const { port, fresh, simulators, repository } = flags;
  if (port !== undefined || fresh || !simulators || repository !== undefined)
    throw usageError(
      'With --url the service runs already: --port, --fresh, --no-simulators and --repository do not apply.',
    );
  const { url, credential, operatorKey, accessTokenSecret } = await context.loadSettings();
  const events = await openEventStream(context, undefined);
  const { signal } = context;
  await fetch(`${url}/healthz`, { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw new CliError(`${url} cannot be reached: ${describeCause(error)}`, EXIT.unreachable);
  });
  const consoleUrl = await findConsoleUrl(url, operatorKey, signal);
  const secret = findSecret(flags.secret, context.io) ?? createForwardSecret();
  const serviceKey = credential?.kind === 'service key' ? credential.key : undefined;
  const keys = { serviceKey, operatorKey, accessTokenSecret };
  const { forwardTo } = flags;
  log.start({ ...keys, address: url, consoleUrl, secret, forwardTo, dataFolder: undefined });
  await follow(events, { flags, secret, signal, log });
}
