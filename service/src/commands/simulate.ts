// Starts both hosted providers as simulators beside the service, so that everything can be tried without an account anywhere.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { resolve } from 'node:path';
import type { Environment } from '../platform/settings.ts';

const SIMULATORS = resolve(import.meta.dirname, '../../../simulators/start.js');

/** `run` gets the settings that the simulators told, under those that were given. */
export async function runSimulated(
  environment: Environment,
  run: (environment: Environment) => Promise<void>,
): Promise<void> {
  const webhooks = environment['PUBLIC_BASE_URL'] ?? `http://127.0.0.1:${environment['PORT'] ?? 8080}`;
  const child = spawn(process.execPath, [SIMULATORS], {
    env: { WEBHOOK_BASE_URL: webhooks, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => child.kill('SIGTERM'));
  const lines = createInterface({ input: child.stdout });
  const told = new Promise<Environment>((heard) => {
    const settings: Record<string, string> = {};
    lines.on('line', (line) => {
      const [, name, value] = /^export (\w+)=(.*)$/.exec(line) ?? [];
      if (name !== undefined && value !== undefined) settings[name] = value;
      if (line.startsWith('Webhooks go to')) heard(settings);
    });
  });
  const settings = await Promise.race([
    told,
    once(child, 'exit').then(([code]) => {
      throw new Error(`the simulators ended with ${code}`);
    }),
  ]);
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value));
  process.stdout.write(
    `\n  Two video hosts are simulated at ${settings['CDNHOST_API_URL']} and ${settings['EDGEHOST_API_URL']}:\n  send "provider": "cdnhost" or "edgehost" with upload-url.\n`,
  );
  await run({ ...settings, ...given });
}
