// Entry point of the process: runs the service or one of the commands.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runEncoderCommand } from './commands/encoder.ts';
import { runProviderCommand } from './commands/provider.ts';
import { createSample, writeSample } from './commands/sample.ts';
import { seedAssets } from './commands/seed.ts';
import { runWithSimulators } from './commands/simulate.ts';
import { findEngine } from './adapters.ts';
import { runStorageCommand } from './commands/storage.ts';
import { runService, withDatabase, withProviders, withStorage } from './service.ts';

const findInstalledEngine = () =>
  findEngine({ setting: process.env['FFMPEG_PATH'], searchPath: process.env['PATH'] });

const COMMANDS: Readonly<Record<string, () => Promise<void>>> = {
  start: () => runService(process.env),
  '--simulate': () => runWithSimulators(process.env, runService),
  sample: async () => writeSample(await findInstalledEngine(), resolve('sample.mp4')),
  seed: () =>
    withDatabase(process.env, (connection) =>
      seedAssets({
        connection,
        assets: Number(
          parseArgs({ args: process.argv.slice(3), options: { assets: { type: 'string', default: '1000' } } })
            .values.assets,
        ),
      }),
    ),
  encoder: () =>
    runEncoderCommand(
      {
        secret: process.env['ONPREM_WEBHOOK_SECRET'],
        makeSample: async () => createSample(await findInstalledEngine()),
        print: (text) => process.stdout.write(text),
      },
      process.argv.slice(3),
    ),
  storage: () =>
    withStorage(process.env, (config, { store, location }) =>
      runStorageCommand(
        { config, store, location, print: (text) => process.stdout.write(text) },
        process.argv.slice(3),
      ),
    ),
  provider: () =>
    withProviders(process.env, (config, providers) =>
      runProviderCommand(
        { config, providers, print: (text) => process.stdout.write(text) },
        process.argv.slice(3),
      ),
    ),
};

const [name = 'start'] = process.argv.slice(2);
const command = COMMANDS[name];
if (!command) {
  process.stderr.write(`Unknown command "${name}". Commands: ${Object.keys(COMMANDS).join(', ')}.\n`);
  process.exit(1);
}
await command().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  if (error instanceof Error && error.cause)
    process.stderr.write(`  Cause: ${error.cause instanceof Error ? error.cause.message : error.cause}\n`);
  process.exit(1);
});
