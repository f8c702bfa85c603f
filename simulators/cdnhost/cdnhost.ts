// cdnhost (wire format of Bunny Stream) as a local server: API, tus uploads, delivery host and webhooks on
// one port.
import { type ProviderContext, type Simulator, startSimulator, type SimulatorContext } from '../simulator.ts';
import { apiRoutes } from './api.ts';
import { type CdnhostSettings, type Library, reportOf } from './library.ts';
import { playbackRoutes } from './playback.ts';
import { webhookSignature } from './signatures.ts';
import { tusRoutes } from './tus-upload.ts';
import type { CdnhostVideo } from './video.ts';

export type CdnhostOptions = Partial<CdnhostSettings> & {
  /** Default: 0, any free port. */ readonly port?: number;
  readonly webhookUrl?: string;
};
export type CdnhostSimulator = Simulator<CdnhostVideo>;

const DEFAULTS: CdnhostSettings = {
  libraryId: 4242,
  apiKey: 'simulated-key-of-a-library-that-may-write',
  readOnlyApiKey: 'simulated-read-only-key-of-a-library',
  ladder: [240, 360, 720],
};

export function startCdnhost(
  context: SimulatorContext,
  { port = 0, webhookUrl, ...given }: CdnhostOptions,
): Promise<CdnhostSimulator> {
  const settings = { ...DEFAULTS, ...given };
  return startSimulator({
    port,
    context,
    webhook: { url: webhookUrl },
    sign: (body) => ({
      'X-BunnyStream-Signature-Version': 'v1',
      'X-BunnyStream-Signature-Algorithm': 'hmac-sha256',
      'X-BunnyStream-Signature': webhookSignature(settings.readOnlyApiKey, body),
    }),
    open: (context) => openLibrary(context, settings),
  });
}

function openLibrary(context: ProviderContext, settings: CdnhostSettings) {
  const library: Library = {
    settings,
    context,
    entries: new Map(),
    uploads: new Map(),
    collections: new Map(),
  };
  return {
    routes: [...apiRoutes(library), ...tusRoutes(library), ...playbackRoutes(library)],
    environment: environmentOf(settings, context.origin),
    videos: () => [...library.entries.values()].map(({ video }) => video),
    reportOf: (video: string, kind: number | string) => reportOf(library, video, kind),
    clear: () => {
      library.entries.clear();
      library.uploads.clear();
      library.collections.clear();
    },
  };
}

function environmentOf({ libraryId, apiKey, readOnlyApiKey, tokenAuthKey }: CdnhostSettings, origin: string) {
  return {
    CDNHOST_API_URL: origin,
    CDNHOST_STREAM_LIBRARY_ID: String(libraryId),
    CDNHOST_STREAM_API_KEY: apiKey,
    CDNHOST_STREAM_READ_ONLY_API_KEY: readOnlyApiKey,
    CDNHOST_STREAM_HOSTNAME: origin,
    ...(tokenAuthKey === undefined ? {} : { CDNHOST_TOKEN_AUTH_KEY: tokenAuthKey }),
  };
}
