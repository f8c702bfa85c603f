// The keys that a service on this machine generated in its data folder.
import { join } from 'node:path';
import { usageError } from '../exit-codes.ts';
import { readPrivateFile } from './private-file.ts';

export type LocalSecrets = {
  readonly file: string;
  readonly serviceKey: string | undefined;
  readonly operatorKey: string | undefined;
  readonly accessTokenSecret: string | undefined;
};

type Environment = Readonly<Record<string, string | undefined>>;

/** `DATA_DIR`, else `.mediary` in the current folder: the defaults of the service. */
export async function findLocalSecrets(env: Environment, folder: string): Promise<LocalSecrets | undefined> {
  const file = join(env['DATA_DIR'] ? env['DATA_DIR'] : join(folder, '.mediary'), 'secrets.json');
  const text = await readPrivateFile(file);
  if (text === undefined) return undefined;
  const values = parseSecrets(file, text);
  const find = (name: string): string | undefined => {
    const value = values[name];
    return typeof value === 'string' ? value : undefined;
  };
  return {
    file,
    serviceKey: find('SERVICE_API_KEY'),
    operatorKey: find('OPERATOR_KEY'),
    accessTokenSecret: find('ACCESS_TOKEN_SECRET'),
  };
}

/** The error of JSON.parse quotes the text. */
function parseSecrets(file: string, text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    throw usageError(`${file} is not JSON.`);
  }
}
