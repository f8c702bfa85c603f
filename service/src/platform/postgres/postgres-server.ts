// One running PostgreSQL server: started, watched, stopped.
import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { PORT, type Place } from './postgres-place.ts';
import { lastWords, runningAs } from './postgres-program.ts';

export type Server = {
  /** Resolves when the server and all its processes are gone, whoever ended them. */
  readonly ended: Promise<Error>;
  stop(): Promise<void>;
};

/** Failed statements and their values are not logged; "log" still lets the words through that say that it is ready. */
const SETTINGS = {
  listen_addresses: '',
  port: PORT,
  unix_socket_permissions: '0700',
  max_connections: 100,
  shared_buffers: '128MB',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  timezone: 'UTC',
  log_destination: 'stderr',
  logging_collector: 'off',
  log_timezone: 'UTC',
  log_min_messages: 'log',
  log_checkpoints: 'off',
  log_statement: 'none',
  log_min_error_statement: 'panic',
  log_min_duration_statement: -1,
};

const READY = 'ready to accept connections';
/** What a killed server leaves for a moment: processes that are still dying, or ending in order. */
const PASSING =
  /pre-existing shared memory block|lock file "[^"]*" already exists|is starting up|is shutting down/;
const PATIENCE_MS = 15_000;
const FAST_STOP_MS = 30_000;

export async function startServer(place: Place, postgres: string): Promise<Server> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const { ready, ...server } = launchServer(place, postgres);
    // No limit: repairing after a crash takes its time, and a server that cannot start ends by itself.
    const failure = await Promise.race([ready, server.ended]);
    if (!failure) return server;
    if (!PASSING.test(failure.message) || Date.now() > deadline) throw failure;
    await delay(100);
  }
}

function launchServer(
  { cluster, owner, socketFolder }: Place,
  postgres: string,
): Server & { ready: Promise<void> } {
  const settings = { ...SETTINGS, unix_socket_directories: `"${socketFolder.replaceAll('"', '""')}"` };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  // A session of its own: the terminal's Ctrl-C reaches the service alone, which stops the server last.
  const child = spawn(postgres, ['-D', cluster, ...args], {
    ...runningAs(owner),
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const { said, words } = listenTo(child.stderr);
  const ended = new Promise<Error>((resolve) => {
    child.once('error', resolve);
    child.once('close', (code, signal) =>
      resolve(new Error(`PostgreSQL ended (${signal ?? code}): ${words()}`)),
    );
  });
  const kill = (signal: NodeJS.Signals) => child.kill(signal);
  endWithProcess(kill, ended);
  return { ready: said(READY), ended, stop: () => stopServer(kill, ended) };
}

function listenTo(stream: NodeJS.ReadableStream) {
  let heard = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    heard = (heard + text).slice(-8192);
  });
  const said = (words: string) =>
    new Promise<void>((resolve) => {
      stream.on('data', () => {
        if (heard.includes(words)) resolve();
      });
    });
  return { said, words: () => lastWords(heard) };
}

type Kill = (signal: NodeJS.Signals) => void;

/** A service that exits without stop() takes its server along; only SIGKILL leaves an orphan. */
function endWithProcess(kill: Kill, ended: Promise<Error>): void {
  const abandon = () => kill('SIGINT');
  process.once('exit', abandon);
  void ended.then(() => process.off('exit', abandon));
}

/** SIGINT ends connections and writes everything out; SIGQUIT leaves that to the next start. Neither loses a commit. */
async function stopServer(kill: Kill, ended: Promise<Error>): Promise<void> {
  kill('SIGINT');
  const impatience = setTimeout(() => kill('SIGQUIT'), FAST_STOP_MS);
  await ended;
  clearTimeout(impatience);
}
