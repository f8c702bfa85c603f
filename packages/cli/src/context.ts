// What every command gets: settings, output, and the signal of Ctrl-C.
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { CliError, EXIT } from './exit-codes.ts';
import { createOperatorApi, type OperatorApi } from './operator-api.ts';
import { createOutput, isColorWanted, type Output, type Stream } from './output.ts';
import { findLocalSecrets } from './settings/local-secrets.ts';
import { chooseProfile, findProfilePath, readProfiles } from './settings/profiles.ts';
import { type Flags, resolveSettings, type Settings } from './settings/settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The process as the command sees it. */
export type Io = {
  readonly env: Environment;
  readonly folder: string;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: Stream;
  readonly stderr: Stream;
  /** Aborted by Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
};

export type CommandContext = {
  readonly io: Io;
  readonly output: Output;
  readonly flags: GlobalFlags;
  readonly signal: AbortSignal;
  /** Reads the profile file and the data folder at the first call. */
  loadSettings(): Promise<Settings>;
};

export type GlobalFlags = Flags & {
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly color?: boolean;
};

/** `options` are those of the command, without the global ones. */
export type Handler<Options = object> = (
  context: CommandContext,
  args: readonly string[],
  options: Options,
) => Promise<void>;

/** Adapts a handler to commander, which passes arguments, options and the command. */
export const createRunner =
  (io: Io) =>
  <Options>(handler: Handler<Options>) =>
  async (...parameters: unknown[]): Promise<void> => {
    const command = parameters.at(-1) as Command;
    const flags = command.optsWithGlobals() as GlobalFlags;
    await handler(createContext(io, flags), command.args, command.opts() as Options);
  };

export type Runner = ReturnType<typeof createRunner>;

export function createOutputOf(io: Io, flags: GlobalFlags): Output {
  return createOutput({
    stdout: io.stdout,
    stderr: io.stderr,
    isJson: flags.json === true,
    isQuiet: flags.quiet === true,
    hasColor: flags.color !== false && isColorWanted(flags.json ? io.stderr : io.stdout, io.env),
  });
}

function createContext(io: Io, flags: GlobalFlags): CommandContext {
  const output = createOutputOf(io, flags);
  let settings: Promise<Settings> | undefined;
  return {
    io,
    output,
    flags,
    signal: io.signal,
    loadSettings: () => {
      settings ??= readSettings(io, flags).then((loaded) => {
        for (const warning of loaded.warnings) output.warn(warning);
        return loaded;
      });
      return settings;
    },
  };
}

async function readSettings(io: Io, flags: GlobalFlags): Promise<Settings> {
  const profiles = await readProfiles(findProfilePath(io.env));
  return resolveSettings({
    flags,
    env: io.env,
    profile: chooseProfile(profiles, flags.profile ?? io.env['MEDIARY_PROFILE']),
    local: await findLocalSecrets(io.env, io.folder),
    userName: userInfo().username,
  });
}

/** A terminal shows an error soon; the SDK's default waits longer. */
export const MAX_RETRIES = 2;

export async function openOperatorApi(context: CommandContext): Promise<OperatorApi> {
  const { url, operatorKey } = await context.loadSettings();
  if (operatorKey)
    return createOperatorApi({ url, operatorKey, signal: context.signal, maxRetries: MAX_RETRIES });
  throw new CliError(
    'This command needs the operator key.',
    EXIT.auth,
    'Set MEDIARY_OPERATOR_KEY, pass --operator-key, or store it: mediary config login --as operator-key',
  );
}
