// `token`: signs an access token with the secret of the service.
import { signAccessToken } from '@mediary/client/server';
import type { Command } from 'commander';
import { parseDuration } from '../arguments.ts';
import type { Handler, Runner } from '../context.ts';
import { CliError, EXIT } from '../exit-codes.ts';

const DEFAULT_EXPIRY_S = 3600;

export const addTokenCommand = (program: Command, run: Runner): Command =>
  program
    .command('token')
    .description('Sign an access token with ACCESS_TOKEN_SECRET, for tests and support')
    .requiredOption('--user <id>', 'user id of the token')
    .option('--expires <duration>', 'lifetime, such as 1h', parseDuration, DEFAULT_EXPIRY_S)
    .action(run(signToken));

const signToken: Handler<{ readonly user: string; readonly expires: number }> = async (
  context,
  _args,
  { user, expires },
) => {
  const { accessTokenSecret: secret } = await context.loadSettings();
  if (!secret)
    throw new CliError(
      'The secret of access tokens is not known.',
      EXIT.auth,
      'Set ACCESS_TOKEN_SECRET, or DATA_DIR to the data folder of a service on this machine.',
    );
  const token = await signAccessToken({ secret, userId: user, expiresInS: expires });
  const expiresAt = new Date(Date.now() + expires * 1000).toISOString();
  context.output.result({ token, user_id: user, expires_at: expiresAt }, () => token);
};
