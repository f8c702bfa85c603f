// The common parts of both simulators: HTTP server, faults, webhooks, request log and control endpoint.
import { mkdir } from 'node:fs/promises';
import type { Clock } from './clock.ts';
import { type Fault, type Faults, isFault, createFaults } from './fault.ts';
import { listen, type RequestLine } from './http-host.ts';
import type { Renderer } from './renderer.ts';
import { json, parseJson, readBody, type Route } from './route.ts';
import { type Delivery, createWebhookSender, type Report, type WebhookSender } from './webhook-sender.ts';

export type SimulatorContext = {
  readonly clock: Clock;
  /** Delay before each step of an encoding. */
  readonly stepMs: number;
  readonly render: Renderer;
  readonly folder: string;
  readonly log: (line: string) => void;
};

/** The arguments of a provider's own part. */
export type ProviderContext = SimulatorContext & {
  readonly origin: string;
  readonly faults: Faults;
  readonly webhooks: WebhookSender;
};

export type Simulator<Video> = {
  /** Origin, `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** Environment variables for Mediary. */
  readonly environment: Readonly<Record<string, string>>;
  readonly setFault: (...faults: readonly Fault[]) => void;
  readonly clearFaults: () => void;
  /** Videos as in the provider's API. */
  readonly videos: () => readonly Video[];
  readonly deliveries: () => readonly Delivery[];
  readonly requests: () => readonly RequestLine[];
  /** Sends a webhook with any status or state for any video, known or unknown. */
  readonly sendWebhook: (video: string, kind: number | string) => Promise<void>;
  readonly sendWebhooksTo: (url: string | undefined) => void;
  /** Clears videos, faults, deliveries and requests. */
  readonly reset: () => void;
  readonly stop: () => Promise<void>;
};

/** The provider-specific parts. */
type Provider<Video> = {
  readonly routes: readonly Route[];
  readonly environment: Readonly<Record<string, string>>;
  readonly videos: () => readonly Video[];
  readonly reportOf: (video: string, kind: number | string) => Report;
  readonly clear: () => void;
};
type Start<Video> = {
  readonly port: number;
  readonly context: SimulatorContext;
  readonly webhook: { url: string | undefined };
  readonly sign: (body: string, unixSeconds: number) => Readonly<Record<string, string>>;
  readonly open: (context: ProviderContext) => Provider<Video>;
};

const MAX_REQUESTS = 1000;

export async function startSimulator<Video>({
  port,
  context,
  webhook,
  sign,
  open,
}: Start<Video>): Promise<Simulator<Video>> {
  await mkdir(context.folder, { recursive: true });
  const host = await listen(port);
  const faults = createFaults();
  const webhooks = createWebhookSender({ ...context, faults, sign, url: () => webhook.url });
  const provider = open({ ...context, origin: host.url, faults, webhooks });
  const requests: RequestLine[] = [];
  const simulator: Simulator<Video> = {
    url: host.url,
    environment: provider.environment,
    setFault: (...added) => faults.add(added),
    clearFaults: faults.clear,
    videos: provider.videos,
    deliveries: webhooks.deliveries,
    requests: () => requests,
    sendWebhook: (video, kind) => webhooks.send(provider.reportOf(video, kind)),
    sendWebhooksTo: (url) => void Object.assign(webhook, { url }),
    reset: () => {
      for (const clear of [provider.clear, faults.clear, webhooks.clear]) clear();
      requests.length = 0;
    },
    stop: host.stop,
  };
  const record = (line: RequestLine) => void (requests.push(line) > MAX_REQUESTS && requests.shift());
  host.serve({ routes: [...controlRoutes(simulator, faults), ...provider.routes], faults, record });
  return simulator;
}

function controlRoutes<Video>(simulator: Simulator<Video>, faults: Faults): Route[] {
  const control = (method: string, path: string, run: Route['run']): Route => ({
    name: `control ${path}`,
    group: 'control',
    method,
    path: new RegExp(`^/_control${path}$`),
    run,
  });
  const done = (act: () => void) => {
    act();
    return { status: 204 };
  };
  return [
    control('GET', '/videos', () => json(200, simulator.videos())),
    control('GET', '/deliveries', () => json(200, simulator.deliveries())),
    control('GET', '/requests', () => json(200, simulator.requests())),
    control('GET', '/faults', () => json(200, faults.list())),
    control('DELETE', '/faults', () => done(simulator.clearFaults)),
    control('DELETE', '', () => done(simulator.reset)),
    control('POST', '/faults', async (call) => {
      const added = [parseJson((await readBody(call)).toString())].flat();
      if (!added.every(isFault))
        return json(400, {
          message: 'A fault is { on: "webhook" | "encoding" | "api", do: … }; status is from 200 to 599',
        });
      return done(() => simulator.setFault(...added));
    }),
    control('POST', '/webhooks', async (call) => {
      const { video, kind } = (parseJson((await readBody(call)).toString()) ?? {}) as {
        video?: string;
        kind?: number | string;
      };
      if (video === undefined || kind === undefined)
        return json(400, { message: 'A report is { video, kind }' });
      await simulator.sendWebhook(video, kind);
      return { status: 204 };
    }),
  ];
}
