// Settings of a process: what it does, where its data is, and how it starts and stops.
import { DATABASE_URL_FORM, parseDatabaseUrl } from '../postgres/database-url.ts';
import { choice, integer, type Setting, text } from '../settings/setting.ts';

const DAY_S = 86_400;

/** Folder in the working directory. */
export const DEFAULT_DATA_DIR = '.mediary';

function databaseUrl(name: string, about: string, byDefault: string): Setting<string | undefined> {
  return {
    name,
    type: 'text',
    about,
    byDefault,
    parse: ({ given }, report) => {
      try {
        if (given !== undefined) parseDatabaseUrl(given);
      } catch (error) {
        report(`${name} ${DATABASE_URL_FORM}: ${(error as Error).message}`);
      }
      return given;
    },
  };
}

export const PROCESS_SETTINGS = {
  title: 'Processes',
  settings: {
    role: choice(
      'MEDIARY_ROLE',
      '`api` handles requests; `worker` encodes and runs all other jobs, and needs a database, a store and ' +
        '`ENCODER_CALLBACK_URL`; `all` does both.',
      { choices: ['all', 'api', 'worker'], fallback: 'all' },
    ),
    dataDir: text(
      'DATA_DIR',
      'Folder of the embedded database, the object store, temporary files and generated secrets.',
      DEFAULT_DATA_DIR,
    ),
    databaseUrl: databaseUrl(
      'DATABASE_URL',
      'PostgreSQL 15 or newer, with all servers of a cluster: the service uses the one that takes writes. ' +
        'Without it the service starts its own database server in `DATA_DIR`.',
      'embedded PostgreSQL 18',
    ),
    databaseListenUrl: databaseUrl(
      'DATABASE_LISTEN_URL',
      'The PostgreSQL servers themselves where `DATABASE_URL` is a pooler such as PgBouncer in transaction ' +
        'mode: for notifications and migrations ([guide](guides/going-to-production.md#pgbouncer)).',
      '`DATABASE_URL`',
    ),
    jobRetention: {
      completedSeconds: integer('JOB_RETENTION_H', 'Hours that completed jobs stay in the job queue.', {
        fallback: 4,
        min: 1,
        max: 720,
        scale: 3600,
      }),
      failedSeconds: integer(
        'FAILED_JOB_RETENTION_H',
        'Hours that failed jobs stay in the job queue, so that diagnostics show them.',
        { fallback: 168, min: 1, max: 8760, scale: 3600 },
      ),
    },
    drainSeconds: integer(
      'DRAIN_S',
      'Seconds after SIGTERM in which `/readyz` is 503 and requests are still accepted, so that load ' +
        'balancers notice.',
      { fallback: 0, min: 0, max: 600 },
    ),
    stopTimeoutSeconds: integer(
      'STOP_TIMEOUT_S',
      'Seconds after `DRAIN_S` after which requests in progress are cut off.',
      { fallback: 5, min: 0, max: DAY_S },
    ),
    log: {
      level: choice('LOG_LEVEL', 'The least important messages that are logged.', {
        choices: ['debug', 'info', 'warn', 'error', 'silent'],
        fallback: 'info',
      }),
      format: choice(
        'LOG_FORMAT',
        '`pretty` writes lines for people, `json` one JSON object per line; `auto` is `pretty` on a ' +
          'terminal.',
        { choices: ['auto', 'json', 'pretty'], fallback: 'auto' },
      ),
    },
    start: {
      timeoutSeconds: integer(
        'START_TIMEOUT_S',
        'Seconds in which the start retries while the database does not accept connections.',
        { fallback: 60, min: 0, max: 3600 },
      ),
      migrations: choice(
        'MIGRATE_AT_START',
        '`off`: the process changes no tables, and refuses to start while migrations are pending; `npm run ' +
          'migrate` applies them ([guide](guides/going-to-production.md#migrations-upgrade-and-rollback)).',
        { choices: ['on', 'off'], fallback: 'on' },
      ),
    },
  },
};
