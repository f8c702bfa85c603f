// Settings of the example. On a developer's machine they follow from the data folder of the service.
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

export type Settings = {
  readonly port: number;
  /** Base URL of the service. */
  readonly mediaryUrl: string;
  /** The same secret as the service's; only the back end knows it. */
  readonly accessTokenSecret: string;
  /** For calls of the back end itself. */
  readonly serviceKey: string;
  /** Verifies webhooks. Undefined: the example receives none. */
  readonly webhookSecret?: string | undefined;
};

type Environment = Readonly<Record<string, string | undefined>>;

export async function readSettings(environment: Environment): Promise<Settings> {
  const stored = await readGeneratedSecrets(environment['DATA_DIR'] ?? '.mediary');
  const secretOf = (name: string): string => {
    const value = environment[name] ?? stored[name];
    if (!value) throw new Error(`${name} is not set. Start the service first, or set it to the service's value.`);
    return value;
  };
  return {
    port: Number(environment['PORT'] ?? 3000),
    mediaryUrl: environment['MEDIARY_URL'] ?? 'http://127.0.0.1:8080',
    accessTokenSecret: secretOf('ACCESS_TOKEN_SECRET'),
    serviceKey: secretOf('SERVICE_API_KEY'),
    webhookSecret: environment['WEBHOOK_SECRET'],
  };
}

/** Secrets that the service generated at its first start. */
async function readGeneratedSecrets(dataDir: string): Promise<Record<string, string>> {
  const text = await readFile(join(resolve(dataDir), 'secrets.json'), 'utf8').catch(() => '{}');
  return JSON.parse(text) as Record<string, string>;
}
