// Spawns one PostgreSQL server, waits until it is ready, and stops it.
import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { PORT, type ClusterLayout } from './layout.ts';
import { tailOf, getSpawnOptions } from './program.ts';

export type Server = {
  /** Resolves when the server and all its child processes have ended, for any reason. */
  readonly ended: Promise<Error>;
  stop(): Promise<void>;
};

/**
 * Failed statements and their values are not logged. log_min_messages must be "log", the level of the ready
 * message.
 */
const SETTINGS = {
  listen_addresses: '',
  port: PORT,
  unix_socket_permissions: '0700',
  max_connections: 100,
  shared_buffers: '128MB',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  // A new database grows fast: plans for empty tables must not be kept for the default of a minute.
  autovacuum_naptime: '10s',
  timezone: 'UTC',
  log_destination: 'stderr',
  logging_collector: 'off',
  log_timezone: 'UTC',
  log_min_messages: 'log',
  log_checkpoints: 'off',
  // What a backup has not copied yet may fill no more of the disk. The next backup then starts anew.
  max_slot_wal_keep_size: '4GB',
  log_statement: 'none',
  log_min_error_statement: 'panic',
  log_min_duration_statement: -1,
};

/** Followed by "connections", or by "read-only connections" of a standby. */
const READY = 'ready to accept ';
/** Errors that pass by themselves: processes of a killed server are still ending. */
const TRANSIENT =
  /pre-existing shared memory block|lock file "[^"]*" already exists|is starting up|is shutting down/;
const RETRY_FOR_MS = 15_000;
const FAST_SHUTDOWN_MS = 30_000;

/** `more`: settings of this start, by name. */
export async function startServer(
  layout: ClusterLayout,
  postgres: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const deadline = Date.now() + RETRY_FOR_MS;
  for (;;) {
    const { ready, ...server } = spawnServer(layout, postgres, more);
    // No timeout: crash recovery may take long, and a server that cannot start exits.
    const failure = await Promise.race([ready, server.ended]);
    if (!failure) return server;
    if (!TRANSIENT.test(failure.message) || Date.now() > deadline) throw failure;
    await delay(100);
  }
}

function spawnServer(
  { cluster, owner, socketFolder }: ClusterLayout,
  postgres: string,
  more: Readonly<Record<string, string>>,
): Server & { ready: Promise<void> } {
  const folder = `"${socketFolder.replaceAll('"', '""')}"`;
  const settings = { ...SETTINGS, ...more, unix_socket_directories: folder };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  // Its own session: Ctrl-C in the terminal reaches only the service, which stops the server last.
  const child = spawn(postgres, ['-D', cluster, ...args], {
    ...getSpawnOptions(owner),
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const { waitFor, tail } = readOutput(child.stderr);
  const ended = new Promise<Error>((resolve) => {
    child.once('error', resolve);
    child.once('close', (code, signal) =>
      resolve(new Error(`PostgreSQL ended (${signal ?? code}): ${tail()}`)),
    );
  });
  const kill = (signal: NodeJS.Signals) => child.kill(signal);
  stopOnProcessExit(kill, ended);
  return { ready: waitFor(READY), ended, stop: () => stopServer(kill, ended) };
}

function readOutput(stream: NodeJS.ReadableStream) {
  let output = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    output = (output + text).slice(-8192);
  });
  const waitFor = (message: string) =>
    new Promise<void>((resolve) => {
      stream.on('data', () => {
        if (output.includes(message)) resolve();
      });
    });
  return { waitFor, tail: () => tailOf(output) };
}

type Kill = (signal: NodeJS.Signals) => void;

/** A process that exits without stop() stops its server too; only SIGKILL leaves an orphan. */
function stopOnProcessExit(kill: Kill, ended: Promise<Error>): void {
  const interrupt = () => kill('SIGINT');
  process.once('exit', interrupt);
  void ended.then(() => process.off('exit', interrupt));
}

/**
 * SIGINT closes connections and writes a checkpoint; SIGQUIT leaves recovery to the next start. Neither loses
 * a commit.
 */
async function stopServer(kill: Kill, ended: Promise<Error>): Promise<void> {
  kill('SIGINT');
  const immediateShutdown = setTimeout(() => kill('SIGQUIT'), FAST_SHUTDOWN_MS);
  await ended;
  clearTimeout(immediateShutdown);
}
