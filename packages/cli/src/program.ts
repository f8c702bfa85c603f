// The command line: global options, the list of commands, and how errors end it.
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { addAssetCommands } from './commands/assets/assets.ts';
import { addCollectionCommands } from './commands/collections/collections.ts';
import { addCompletionCommand } from './commands/completion.ts';
import { addConsoleCommand } from './commands/console.ts';
import { addConfigCommands } from './commands/config.ts';
import { addDeliveryCommands } from './commands/deliveries.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addEventsCommand } from './commands/events.ts';
import { addFsckCommand } from './commands/fsck.ts';
import { addImportCommands } from './commands/import.ts';
import { addJobCommands } from './commands/jobs.ts';
import { addMigrateCommands } from './commands/migrate.ts';
import { addDevCommand } from './commands/develop/dev.ts';
import { addListenCommand } from './commands/develop/listen.ts';
import { addTriggerCommand } from './commands/develop/trigger.ts';
import { addOwnerCommands } from './commands/owners/owners.ts';
import { addPlaybackCommands } from './commands/playback.ts';
import { addProvidersCommand } from './commands/providers.ts';
import { addSettingsCommand } from './commands/settings.ts';
import { addTokenCommand } from './commands/token.ts';
import { addTagCommand } from './commands/assets/tag.ts';
import { addUpdateCommand } from './commands/assets/update.ts';
import { addUploadCommand } from './commands/upload.ts';
import { addUploadTokenCommands } from './commands/upload-tokens.ts';
import { addUsageCommand } from './commands/usage.ts';
import { addWebhookCommands } from './commands/webhooks.ts';
import { createOutputOf, createRunner, type GlobalFlags, type Io, type Runner } from './context.ts';
import { type CliError, EXIT, usageError } from './exit-codes.ts';
import { reportFailure } from './failure.ts';

const HELP = `
Examples:
  mediary upload film.mp4 --wait            progress of bytes, then of encoding
  mediary ls --status ready --search launch
  mediary open <id> --browser               plays it
  mediary doctor                            finds what is wrong, and says how to fix it

Settings come from flags, then from the environment (MEDIARY_URL, MEDIARY_TOKEN, MEDIARY_SERVICE_KEY,
MEDIARY_OPERATOR_KEY, MEDIARY_OWNER, MEDIARY_PROFILE), then from a profile (mediary config), then, for a
service on this machine, from its data folder (DATA_DIR, else .mediary).

Exit codes: 0 success, 1 failed, 2 usage, 3 credentials, 4 not found, 5 asset failed, 6 timeout,
7 unreachable, 129 terminal closed, 130 interrupted, 141 broken pipe, 143 terminated.`;

type Process = Pick<NodeJS.Process, 'env' | 'cwd' | 'stdin' | 'stdout' | 'stderr'>;

export const createIo = ({ env, cwd, stdin, stdout, stderr }: Process, signal: AbortSignal): Io => ({
  env,
  folder: cwd(),
  stdin,
  stdout,
  stderr,
  signal,
});

/** Returns the exit code. */
export async function runProgram(io: Io, args: readonly string[]): Promise<number> {
  const program = createProgram(io);
  try {
    await program.parseAsync([...args], { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    const output = createOutputOf(io, program.opts<GlobalFlags>());
    if (!(error instanceof CommanderError)) return reportFailure(output, error);
    if (error.exitCode === 0) return EXIT.ok;
    return output.isJson ? reportFailure(output, toUsageError(error)) : EXIT.usage;
  }
}

const toUsageError = ({ code, message }: CommanderError): CliError =>
  code === 'commander.help'
    ? usageError('The name of a command is missing.', 'List the commands: mediary --help')
    : usageError(message.replace(/^error: /, ''), 'Show the options of the command: --help');

export function createProgram(io: Io): Command {
  const program = new Command('mediary')
    .description('Upload, follow and diagnose media assets')
    .version(readVersion(), '-V, --version', 'print the version of the command')
    .option('--url <url>', 'URL of the service')
    .option('--token <token>', 'access token of a user')
    .option('--service-key <key>', 'service key of a back end')
    .option('--operator-key <key>', 'operator key')
    .option('--owner <id>', 'owner of the assets, with the service key')
    .option('--profile <name>', 'profile to use')
    .option('--json', 'print JSON, and JSON lines for streams')
    .option('-q, --quiet', 'print no notes and no progress')
    .option('--no-color', 'print no colours')
    .addHelpText('after', HELP)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      // With `--json`, `runProgram` reports the error.
      writeErr: (text) => {
        if (!program.opts<GlobalFlags>().json) io.stderr.write(text);
      },
    })
    .exitOverride();
  const run = createRunner(io);
  for (const [group, commands] of GROUPS) {
    program.commandsGroup(group);
    for (const add of commands) add(program, run);
  }
  return program.commandsGroup('Other:');
}

/** The manifest is one folder above the sources, and above the built files. */
const readVersion = (): string =>
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;

type AddCommands = (program: Command, run: Runner) => void;

const GROUPS: readonly (readonly [group: string, commands: readonly AddCommands[]])[] = [
  [
    'Assets:',
    [
      addUploadCommand,
      addImportCommands,
      addMigrateCommands,
      addAssetCommands,
      addUpdateCommand,
      addTagCommand,
      addCollectionCommands,
      addUsageCommand,
    ],
  ],
  ['Playback:', [addPlaybackCommands]],
  ['Events and webhooks:', [addEventsCommand, addWebhookCommands]],
  ['Development:', [addDevCommand, addListenCommand, addTriggerCommand]],
  [
    'For operators:',
    [
      addConsoleCommand,
      addProvidersCommand,
      addDeliveryCommands,
      addJobCommands,
      addOwnerCommands,
      addFsckCommand,
    ],
  ],
  [
    'Setup:',
    [
      addDoctorCommand,
      addSettingsCommand,
      addConfigCommands,
      addTokenCommand,
      addUploadTokenCommands,
      addCompletionCommand,
    ],
  ],
];
