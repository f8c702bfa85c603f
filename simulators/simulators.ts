// Starts both simulated video providers on loopback with a shared clock and temporary folder.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CdnhostOptions, type CdnhostSimulator, startCdnhost } from './cdnhost/cdnhost.ts';
import { type Clock, wallClock } from './clock.ts';
import { type EdgehostOptions, type EdgehostSimulator, startEdgehost } from './edgehost/edgehost.ts';
import { ffmpegRenderer, placeholderRenderer } from './renderer.ts';

export type SimulatorsOptions = {
  readonly cdnhost?: CdnhostOptions;
  readonly edgehost?: EdgehostOptions;
  /**
   * URL of Mediary; the `webhookUrl` of a simulator takes precedence. Both can be set later with
   * `sendWebhooksTo`.
   */
  readonly webhookBaseUrl?: string;
  /** Without ffmpeg, playlists are valid but their segments do not exist. */
  readonly ffmpegPath?: string;
  /** Delay before each step of an encoding. */
  readonly stepMs?: number;
  readonly clock?: Clock;
  readonly log?: (line: string) => void;
};

export type Simulators = {
  readonly cdnhost: CdnhostSimulator;
  readonly edgehost: EdgehostSimulator;
  /** Environment variables for Mediary to use both simulators. */
  readonly environment: Readonly<Record<string, string>>;
  /** Sets the URL of a Mediary that was started after the simulators. */
  readonly sendWebhooksTo: (mediaryUrl: string) => void;
  readonly reset: () => void;
  readonly stop: () => Promise<void>;
};

const STEP_MS = 300;
const toWebhookUrl = (mediaryUrl: string, provider: string) =>
  `${mediaryUrl}/api/v1/webhooks/stream/${provider}`;

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
  const render = ffmpegPath === undefined ? placeholderRenderer : ffmpegRenderer(ffmpegPath, ending.signal);
  const context = (name: string) => ({
    clock,
    stepMs,
    render,
    folder: join(folder, name),
    log: (line: string) => log(`${name} ${line}`),
  });
  const target = (name: string) =>
    webhookBaseUrl === undefined ? {} : { webhookUrl: toWebhookUrl(webhookBaseUrl, name) };
  const cdnhost = await startCdnhost(context('cdnhost'), { ...target('cdnhost'), ...options.cdnhost });
  const edgehost = await startEdgehost(context('edgehost'), {
    ...target('edgehost'),
    ...options.edgehost,
  });
  return {
    cdnhost,
    edgehost,
    environment: { ...cdnhost.environment, ...edgehost.environment },
    sendWebhooksTo: (mediaryUrl) => {
      cdnhost.sendWebhooksTo(toWebhookUrl(mediaryUrl, 'cdnhost'));
      edgehost.sendWebhooksTo(toWebhookUrl(mediaryUrl, 'edgehost'));
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
