// Tests the settings that the simulators hand to the service.
import { expect, test } from 'vitest';
import { startSimulators } from './simulators.ts';

/** The service warns about shorter ones. */
const SHORTEST_SECRET = 32;

test('their secrets raise no warning at the start of the service', async () => {
  const simulators = await startSimulators();
  await simulators.stop();
  const secrets = Object.entries(simulators.environment).filter(([name]) =>
    /_(?:KEY|SECRET|TOKEN)$/.test(name),
  );
  expect(secrets.map(([name]) => name)).toContain('EDGEHOST_STREAM_WEBHOOK_SECRET');
  expect(secrets.filter(([, value]) => value.length < SHORTEST_SECRET)).toEqual([]);
});
