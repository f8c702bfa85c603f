// Test fixture: simulators with a manual clock, and a server that records every webhook.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type ManualClock, manualClock } from './clock.ts';
import { type Simulators, type SimulatorsOptions, startSimulators } from './simulators.ts';

export type Received = {
  readonly path: string;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
};
type Listener = { readonly url: string; readonly received: Received[]; readonly stop: () => Promise<void> };

async function startListener(): Promise<Listener> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    received.push({ path: request.url ?? '', headers: request.headers, body: await text(request) });
    response.end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Duration of an encoding step in milliseconds. */
export const STEP = 100;

/** `simulators` and `listener` exist while the file's tests run, and are cleared before each test. */
type TestSimulators = {
  readonly clock: ManualClock;
  readonly simulators: Simulators;
  readonly received: Received[];
  readonly listener: Listener;
};

export function useSimulators(options: Pick<SimulatorsOptions, 'cdnhost' | 'edgehost'> = {}): TestSimulators {
  const context = { clock: manualClock() } as {
    clock: ManualClock;
    simulators: Simulators;
    received: Received[];
    listener: Listener;
  };
  beforeAll(async () => {
    context.listener = await startListener();
    context.received = context.listener.received;
    context.simulators = await startSimulators({
      ...options,
      clock: context.clock,
      stepMs: STEP,
      webhookBaseUrl: context.listener.url,
    });
  });
  afterAll(async () => {
    await context.simulators.stop();
    await context.listener.stop();
  });
  beforeEach(() => {
    context.simulators.reset();
    context.received.length = 0;
  });
  return context;
}
