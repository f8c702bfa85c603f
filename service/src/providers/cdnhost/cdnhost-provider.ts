// Hosted video provider with the wire format of Bunny Stream.
import { CdnhostReport } from '@mediary/contract/operations/webhooks';
import type { Secret } from '../../auth/secret.ts';
import { rotatedSecret, secret } from '../../auth/secret-settings.ts';
import type { ClientLimits } from '../../platform/outbound/http-client.ts';
import type { Settings } from '../../platform/settings/read-settings.ts';
import { optionalText } from '../../platform/settings/setting.ts';
import { apiAddress, host, listMissing, replaceInUrls } from '../shared/hosted-settings.ts';
import { verifyWebhook } from '../shared/verify-webhook.ts';
import type { Provider } from '../provider.ts';
import { defineProvider } from '../provider-module.ts';
import { openCdnhostApi } from './cdnhost-api.ts';
import { type CdnhostLibrary, cdnhostPlayback, folderOf, parseCdnhostWebhook } from './cdnhost-report.ts';
import { checkCdnhostSignature, signFolder } from './cdnhost-signatures.ts';

type CdnhostSettings = CdnhostLibrary & {
  readonly webhookSecrets: readonly Secret[];
  readonly apiUrl: string;
  readonly apiKey: Secret | undefined;
  /** Set when the delivery host requires tokens for all videos. */
  readonly tokenKey: Secret | undefined;
};

const CDNHOST_SETTINGS = {
  title: 'cdnhost',
  settings: {
    webhookSecrets: rotatedSecret(
      'CDNHOST_STREAM_READ_ONLY_API_KEY',
      'Read-only API key of the library, which verifies webhooks.',
      'not set',
    ),
    libraryId: optionalText('CDNHOST_STREAM_LIBRARY_ID', 'Id of the library.', 'not set'),
    hostname: host('CDNHOST_STREAM_HOSTNAME', 'Host name of the pull zone.'),
    apiKey: secret('CDNHOST_STREAM_API_KEY', 'API key of the library.', 'not set'),
    tokenKey: secret('CDNHOST_TOKEN_AUTH_KEY', 'Token authentication key of the pull zone.', 'not set'),
    apiUrl: apiAddress('CDNHOST_API_URL', 'https://video.bunnycdn.com'),
  },
};

export const readCdnhostSettings = (settings: Settings): CdnhostSettings => settings.read(CDNHOST_SETTINGS);

export function openCdnhost(settings: CdnhostSettings, limits?: ClientLimits): Provider {
  const { webhookSecrets, libraryId, apiKey, hostname, tokenKey } = settings;
  const api =
    libraryId !== undefined && apiKey
      ? openCdnhostApi({ ...settings, libraryId, apiKey, limits })
      : undefined;
  const missingSettings = listMissing({
    CDNHOST_STREAM_READ_ONLY_API_KEY: webhookSecrets,
    CDNHOST_STREAM_LIBRARY_ID: libraryId,
    CDNHOST_STREAM_API_KEY: apiKey,
    CDNHOST_STREAM_HOSTNAME: hostname,
    CDNHOST_TOKEN_AUTH_KEY: tokenKey,
  });
  return {
    name: 'cdnhost',
    kind: 'hosted',
    capabilities: {
      webhooks: webhookSecrets.length > 0,
      uploads: api !== undefined,
      inspection: api !== undefined,
      signedPlayback: tokenKey !== undefined,
      dash: false,
      missingSettings,
    },
    api,
    playback: ({ videoId }) => cdnhostPlayback(videoId, hostname),
    sign({ videoId, urls, expires }) {
      const folder = folderOf(videoId);
      return (
        tokenKey && {
          ...replaceInUrls(urls, folder, signFolder({ key: tokenKey, folder, expires })),
          expires,
        }
      );
    },
    verify: ({ headers, body }) =>
      verifyWebhook({
        secrets: webhookSecrets,
        allowUnsigned: false,
        verify: () => checkCdnhostSignature(headers, body, webhookSecrets),
        parse: () => parseCdnhostWebhook(body, settings),
      }),
    parse: (body) => parseCdnhostWebhook(body, settings),
    startJob: () => undefined,
  };
}

export const cdnhost = defineProvider<CdnhostSettings>({
  name: 'cdnhost',
  kind: 'hosted',
  secrets: ['CDNHOST_STREAM_READ_ONLY_API_KEY', 'CDNHOST_STREAM_API_KEY', 'CDNHOST_TOKEN_AUTH_KEY'],
  playbackHost: 'CDNHOST_STREAM_HOSTNAME',
  canAllowUnsigned: false,
  webhook: {
    body: CdnhostReport,
    headers: ['X-Cdnhost-Signature', 'X-BunnyStream-Signature'],
    signature:
      '`X-Cdnhost-Signature` (or `X-BunnyStream-Signature`): ' +
      'HMAC-SHA256 of the body with the read-only API key of the library, as 64 hex digits.',
  },
  readSettings: readCdnhostSettings,
  open: (settings) => openCdnhost(settings),
});
