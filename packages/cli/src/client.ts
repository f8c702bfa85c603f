// The SDK's client with the settings of this run.
import { type CallOptions, createMediary, type Mediary } from '@mediary/client';
import { type CommandContext, MAX_RETRIES } from './context.ts';
import { CliError, EXIT } from './exit-codes.ts';

export type Client = {
  readonly mediary: Mediary;
  /** Options of every call: the signal of Ctrl-C, and the owner with a service key. */
  readonly options: CallOptions;
};

export async function openClient(context: CommandContext): Promise<Client> {
  const { url, credential, owner } = await context.loadSettings();
  if (!credential)
    throw new CliError(
      `No credentials for ${url}.`,
      EXIT.auth,
      'Set MEDIARY_TOKEN or MEDIARY_SERVICE_KEY, or run: mediary config login',
    );
  const isToken = credential.kind === 'token';
  return {
    mediary: createMediary({
      baseUrl: url,
      maxRetries: MAX_RETRIES,
      ...(isToken ? { token: credential.token } : { serviceKey: credential.key }),
    }),
    options: { signal: context.signal, ...(!isToken && owner !== undefined && { ownerUserId: owner }) },
  };
}
