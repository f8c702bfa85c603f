// Both hosted video providers as local servers on loopback, with one clock and one temporary folder.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CdnhostOptions, type CdnhostSimulator, startCdnhost } from './cdnhost/cdnhost.ts';
import { type Clock, wallClock } from './clock.ts';
import { type EdgehostOptions, type EdgehostSimulator, startEdgehost } from './edgehost/edgehost.ts';
import { ffmpegRenderer, shapeRenderer } from './renderer.ts';

export type SimulatorsOptions = {
  readonly cdnhost?: CdnhostOptions;
  readonly edgehost?: EdgehostOptions;
  /** Mediary's address; each simulator's own `webhookUrl` wins. Both can be told later: `sendWebhooksTo`. */
  readonly webhookBaseUrl?: string;
  /** Without it playlists are right in form, and their segments are not there. */
  readonly ffmpegPath?: string;
  /** Pause before each step of an encoding. */
  readonly stepMs?: number;
  readonly clock?: Clock;
  readonly log?: (line: string) => void;
};

export type Simulators = {
  readonly cdnhost: CdnhostSimulator;
  readonly edgehost: EdgehostSimulator;
  /** What Mediary is to be started with to use both. */
  readonly environment: Readonly<Record<string, string>>;
  /** For a Mediary that got its address after they did. */
  readonly sendWebhooksTo: (mediaryUrl: string) => void;
  readonly reset: () => void;
  readonly stop: () => Promise<void>;
};

const STEP_MS = 300;
const door = (mediaryUrl: string, provider: string) => `${mediaryUrl}/api/v1/webhooks/stream/${provider}`;

export async function startSimulators(options: SimulatorsOptions = {}): Promise<Simulators> {
  const {
    webhookBaseUrl,
    ffmpegPath,
    stepMs = STEP_MS,
    log = () => undefined,
    clock = wallClock(log),
  } = options;
  const folder = await mkdtemp(join(tmpdir(), 'simulators-'));
  const ending = new AbortController();
  const render = ffmpegPath === undefined ? shapeRenderer : ffmpegRenderer(ffmpegPath, ending.signal);
  const surroundings = (name: string) => ({
    clock,
    stepMs,
    render,
    folder: join(folder, name),
    log: (line: string) => log(`${name} ${line}`),
  });
  const target = (name: string) =>
    webhookBaseUrl === undefined ? {} : { webhookUrl: door(webhookBaseUrl, name) };
  const cdnhost = await startCdnhost(surroundings('cdnhost'), { ...target('cdnhost'), ...options.cdnhost });
  const edgehost = await startEdgehost(surroundings('edgehost'), {
    ...target('edgehost'),
    ...options.edgehost,
  });
  return {
    cdnhost,
    edgehost,
    environment: { ...cdnhost.environment, ...edgehost.environment },
    sendWebhooksTo: (mediaryUrl) => {
      cdnhost.sendWebhooksTo(door(mediaryUrl, 'cdnhost'));
      edgehost.sendWebhooksTo(door(mediaryUrl, 'edgehost'));
    },
    reset: () => {
      cdnhost.reset();
      edgehost.reset();
    },
    stop: async () => {
      ending.abort();
      await Promise.all([cdnhost.stop(), edgehost.stop(), clock.stop()]);
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
