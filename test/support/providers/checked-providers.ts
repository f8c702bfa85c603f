// Runs the check of a provider's settings against simulated providers: with a ready video each, and without.
import { afterAll, beforeAll, expect, vi } from 'vitest';
import { type Simulators, startSimulators } from '../../../simulators/simulators.ts';
import { createSettings } from '../../../service/src/platform/settings/read-settings.ts';
import type { SettingFinding } from '../../../service/src/providers/provider.ts';
import { configureProviders, openProviders } from '../../../service/src/providers/registry.ts';
import { runProviderCommand } from '../../../service/src/commands/provider.ts';

type Name = 'cdnhost' | 'edgehost';

const PUBLIC_BASE_URL = 'https://media.example';
export const TOKEN_KEY = 'token-key';
export let sims: Simulators;
/** Without token authentication and without videos. */
export let empty: Simulators;
export function useCheckedProviders(): void {
  beforeAll(async () => {
    const options = { stepMs: 1, webhookBaseUrl: PUBLIC_BASE_URL };
    sims = await startSimulators({ ...options, cdnhost: { tokenAuthKey: TOKEN_KEY } });
    empty = await startSimulators(options);
    await Promise.all([makeCdnhostVideo(), makeEdgehostVideo()]);
  });
  afterAll(() => Promise.all([sims.stop(), empty.stop()]));
}

async function makeCdnhostVideo(): Promise<void> {
  const url = `${sims.cdnhost.url}/library/4242/videos`;
  const headers = { AccessKey: 'simulated-key-of-a-library-that-may-write' };
  const created = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ title: 'clip' }) });
  const { guid } = (await created.json()) as { guid: string };
  await fetch(`${url}/${guid}`, { method: 'PUT', headers, body: 'bytes' });
  await vi.waitFor(() => expect(sims.cdnhost.videos()[0]?.availableResolutions).toBeTruthy());
}

async function makeEdgehostVideo(): Promise<void> {
  const url = `${sims.edgehost.url}/client/v4/accounts/simulated-account/stream/direct_upload`;
  const created = await fetch(url, {
    method: 'POST',
    headers: { Authorization: 'Bearer simulated-api-token-of-an-account-that-may-write' },
    body: JSON.stringify({ maxDurationSeconds: 60 }),
  });
  const { result } = (await created.json()) as { result: { uploadURL: string } };
  const form = new FormData();
  form.append('file', new Blob(['bytes']), 'clip.mp4');
  await fetch(result.uploadURL, { method: 'POST', body: form });
  await vi.waitFor(() => expect(sims.edgehost.videos()[0]?.readyToStream).toBe(true));
}

export type Environment = Readonly<Record<string, string | undefined>>;

export async function run(
  command: string,
  environment: Environment,
): Promise<{ printed: string; error: string }> {
  const settings = createSettings({ PUBLIC_BASE_URL, ...environment });
  let printed = '';
  const context = {
    config: { publicBaseUrl: settings.text('PUBLIC_BASE_URL') },
    providers: openProviders(configureProviders(settings), { encoderSecrets: [], allowUnsigned: [] }),
    print: (text: string) => {
      printed += text;
    },
  };
  const error = await runProviderCommand(context, command.split(' ')).then(
    () => '',
    ({ message }: Error) => message,
  );
  return { printed, error };
}

/** Setting → result and detail. */
export async function check(
  name: Name,
  change: Environment = {},
  at = sims,
): Promise<Record<string, string>> {
  const { printed, error } = await run(`check ${name} --json`, { ...at.environment, ...change });
  const { findings } = JSON.parse(printed) as { findings: SettingFinding[] };
  const problems = findings.filter(({ result }) => result === 'problem').length;
  expect(error).toBe(problems === 0 ? '' : `${name}: ${problems} ${problems === 1 ? 'problem' : 'problems'}`);
  for (const [setting, secret] of Object.entries(sims.environment))
    if (/KEY|TOKEN|SECRET/.test(setting) && secret.length > 20) expect(printed).not.toContain(secret);
  return Object.fromEntries(findings.map(({ setting, result, detail }) => [setting, `${result}: ${detail}`]));
}
