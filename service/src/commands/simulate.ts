// `npm start -- --simulate`: starts simulators of both hosted providers, and the service with their settings.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { resolve } from 'node:path';
import type { Environment } from '../platform/settings/read-settings.ts';

const SIMULATORS = resolve(import.meta.dirname, '../../../simulators/start.js');

/** Calls `run` with the settings that the simulators print; settings of the environment take precedence. */
export async function runWithSimulators(
  environment: Environment,
  run: (environment: Environment) => Promise<void>,
): Promise<void> {
  const webhookBaseUrl = environment['PUBLIC_BASE_URL'] ?? `http://127.0.0.1:${environment['PORT'] ?? 8080}`;
  const child = spawn(process.execPath, [SIMULATORS], {
    env: { WEBHOOK_BASE_URL: webhookBaseUrl, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => child.kill('SIGTERM'));
  const lines = createInterface({ input: child.stdout });
  const printed = new Promise<Environment>((resolveSettings) => {
    const settings: Record<string, string> = {};
    lines.on('line', (line) => {
      const [, name, value] = /^export (\w+)=(.*)$/.exec(line) ?? [];
      if (name !== undefined && value !== undefined) settings[name] = value;
      if (line.startsWith('Webhooks go to')) resolveSettings(settings);
    });
  });
  const settings = await Promise.race([
    printed,
    once(child, 'exit').then(([code]) => {
      throw new Error(`The simulators exited with code ${code}`);
    }),
  ]);
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value));
  process.stdout.write(
    [
      '',
      `  Simulated providers: cdnhost at ${settings['CDNHOST_API_URL']}, ` +
        `edgehost at ${settings['EDGEHOST_API_URL']}.`,
      '  Send "provider": "cdnhost" or "edgehost" with upload-url.',
      '',
    ].join('\n'),
  );
  child.once('exit', stopAfterSimulators);
  await run({ ...settings, ...given });
}

/** A crash: at Ctrl-C the simulators end with 0. The service stops too, since its providers are gone. */
function stopAfterSimulators(code: number | null, signal: NodeJS.Signals | null): void {
  if (code === 0) return;
  process.stderr.write(`The simulators have ended (${signal ?? `exit code ${code}`}); the service stops.\n`);
  process.once('exit', () => {
    process.exitCode = 1;
  });
  process.kill(process.pid, 'SIGTERM');
}
