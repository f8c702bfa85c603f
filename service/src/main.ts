// Entry point of the process: runs the service or one of the commands, or prints how to call them. Commands
// load what they use, because the service takes a second to load.
import { resolve } from 'node:path';
import { BACKUP_USAGE, runBackupCommand } from './commands/backup/backup-command.ts';
import { ENCODER_USAGE, runEncoderCommand } from './commands/encoder.ts';
import { FSCK_USAGE, runFsckCommand } from './commands/fsck.ts';
import { MIGRATE_USAGE, parseMigrateArguments, runMigrateCommand } from './commands/migrate.ts';
import { runProviderCommand } from './commands/provider.ts';
import { createSample, writeSample } from './commands/sample.ts';
import { seedDemo } from './commands/demo.ts';
import { parseSeedArguments, seedAssets, seedParkedReports } from './commands/seed.ts';
import { runWithSimulators } from './commands/simulate.ts';
import { readLocalConfig } from './config-local.ts';
import { runStorageCommand } from './commands/storage.ts';
import {
  withApp,
  withDatabase,
  withProviders,
  withRunningDatabase,
  withStorage,
  withUnmigrated,
} from './service-commands.ts';

async function findInstalledEngine() {
  const { findEngine } = await import('./adapters.ts');
  return findEngine({ setting: process.env['FFMPEG_PATH'], searchPath: process.env['PATH'] });
}

const print = (text: string): unknown => process.stdout.write(text);
const printProgress = (text: string): unknown => process.stderr.write(text);

type Command = { readonly help: string; readonly run: (args: readonly string[]) => Promise<void> };

async function runSeed(args: readonly string[]): Promise<void> {
  const { assets, isDemo, url } = parseSeedArguments(args);
  if (!isDemo) return withDatabase(process.env, (connection) => seedAssets({ connection, assets }));
  const { config } = await readLocalConfig(process.env);
  const created = await seedDemo({
    url: url ?? `http://127.0.0.1:${config.port}`,
    serviceKey: config.serviceKeys[0]?.reveal() ?? '',
    engine: await findInstalledEngine(),
    print,
  });
  await withRunningDatabase(process.env, seedParkedReports);
  print(`${created} assets were created; what was there stayed as it was.\n`);
}

const COMMANDS: Readonly<Record<string, Command>> = {
  start: {
    help: 'npm start                       starts the service; docs/settings.md lists its settings',
    run: async () => (await import('./service.ts')).runService(process.env),
  },
  '--simulate': {
    help: 'npm start -- --simulate         also starts both hosted providers as local simulators',
    run: async () => runWithSimulators(process.env, (await import('./service.ts')).runService),
  },
  sample: {
    help: `npm run sample [-- <file>]      writes sample.mp4, a video of ten seconds; to a file such as
                                  sample.m4a its sound alone`,
    run: async ([file = 'sample.mp4']) => writeSample(await findInstalledEngine(), resolve(file)),
  },
  seed: {
    help: `npm run seed -- --assets 1000   fills the database with made-up assets
  npm run seed -- --demo [--url]  uploads a library of forty files to the running service`,
    run: runSeed,
  },
  migrate: {
    help: `${MIGRATE_USAGE}
                                  changes the tables for this release; --plan shows what it would do, and
                                  exits with 3 if migrations are pending`,
    run: async (args) => {
      const options = parseMigrateArguments(args);
      process.exitCode = await withUnmigrated(process.env, { shares: options.plan }, (database) =>
        runMigrateCommand({ ...database, print, printProgress }, options),
      );
    },
  },
  storage: {
    help: 'npm run storage -- check        tries the object store of STORAGE_URL',
    run: (args) =>
      withStorage(process.env, (config, { store, location }) =>
        runStorageCommand({ config, store, location, print }, args),
      ),
  },
  backup: {
    help: `${BACKUP_USAGE}
                                  backs up the database of DATA_DIR and all objects, and restores them`,
    run: (args) =>
      withStorage(process.env, (config, { store }) =>
        runBackupCommand(
          {
            config,
            store,
            openTarget: async (place) => {
              const { openBackupTarget } = await import('./adapters-store.ts');
              return openBackupTarget(config, place);
            },
            now: () => new Date(),
            print,
          },
          args,
        ),
      ),
  },
  fsck: {
    help: `${FSCK_USAGE}
                                  compares the database with the object store and hosted providers`,
    run: (args) =>
      withApp(process.env, ({ storageChecks }) =>
        runFsckCommand({ checks: storageChecks, print, printProgress }, args),
      ),
  },
  provider: {
    help: `npm run provider -- check|register <provider> [--json]
                                  checks the settings of a hosted provider, or registers its webhook URL`,
    run: (args) =>
      withProviders(process.env, (config, providers) =>
        runProviderCommand({ config, providers, print }, args),
      ),
  },
  encoder: {
    help: `${ENCODER_USAGE}
                                  tests an encoder of your own; needs ONPREM_WEBHOOK_SECRET`,
    run: (args) =>
      runEncoderCommand(
        {
          secret: process.env['ONPREM_WEBHOOK_SECRET'],
          makeSample: async () => createSample(await findInstalledEngine()),
          print,
        },
        args,
      ),
  },
};
const HELP = ['help', '--help', '-h'];

const [name = 'start', ...args] = process.argv.slice(2);
const command = COMMANDS[name];
if (HELP.includes(name) || (command && args.some((arg) => HELP.includes(arg)))) {
  const texts = (command ? [command] : Object.values(COMMANDS)).map(({ help }) => `  ${help}\n`);
  print(`Usage:\n${texts.join('')}`);
  process.exit(0);
}
if (!command) {
  process.stderr.write(`Unknown command "${name}". Commands: ${Object.keys(COMMANDS).join(', ')}, --help.\n`);
  process.exit(1);
}
/** These run the service, whose log is on standard output. */
const isService = name === 'start' || name === '--simulate';
await command.run(args).catch(async (error: unknown) => {
  if (isService && !process.stdout.isTTY) {
    const { logFailedStart } = await import('./service.ts');
    logFailedStart(process.env, error);
    process.exit(1);
  }
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  if (error instanceof Error && error.cause)
    process.stderr.write(`  Cause: ${error.cause instanceof Error ? error.cause.message : error.cause}\n`);
  process.exit(1);
});
