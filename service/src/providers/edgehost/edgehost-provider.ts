// Hosted video provider with the wire format of Cloudflare Stream.
import type { KeyObject } from 'node:crypto';
import { EdgehostReport } from '@mediary/contract/operations/webhooks';
import type { Secret } from '../../auth/secret.ts';
import { rotatedSecret, secret } from '../../auth/secret-settings.ts';
import type { ClientLimits } from '../../platform/outbound/http-client.ts';
import type { Settings } from '../../platform/settings/read-settings.ts';
import { integer, optionalText, type Setting } from '../../platform/settings/setting.ts';
import { apiAddress, host, listMissing, replaceInUrls } from '../shared/hosted-settings.ts';
import { verifyWebhook } from '../shared/verify-webhook.ts';
import type { Provider, SignedUrls, SignedVideo } from '../provider.ts';
import { defineProvider } from '../provider-module.ts';
import { openEdgehostApi } from './edgehost-api.ts';
import { UPLOAD_RULES } from './edgehost-upload.ts';
import { parseEdgehostWebhook, edgehostPlayback } from './edgehost-video.ts';
import {
  checkEdgehostSignature,
  createVideoToken,
  limitExpiry,
  parseSigningKey,
  type SigningKey,
} from './edgehost-signatures.ts';

type EdgehostSettings = {
  readonly webhookSecrets: readonly Secret[];
  /** Maximum age of a signature in seconds; 0: unlimited. */
  readonly toleranceSeconds: number;
  readonly customerHost: string | undefined;
  readonly apiUrl: string;
  readonly accountId: string | undefined;
  readonly apiToken: Secret | undefined;
  readonly signingKeyId: string | undefined;
  readonly signingKey: KeyObject | undefined;
  readonly defaultDurationSeconds: number;
};

const signingKey: Setting<KeyObject | undefined> = {
  name: 'EDGEHOST_SIGNING_KEY_PEM',
  type: 'secret',
  about: 'Key that signs private playback: its PEM or the base64 of it.',
  byDefault: 'not set',
  parse({ given }, report) {
    const key = given === undefined ? undefined : parseSigningKey(given);
    if (given !== undefined && !key)
      report(
        'EDGEHOST_SIGNING_KEY_PEM must be an RSA private key: ' +
          "its PEM text, or the Base64 of it as in the product's API",
      );
    return key;
  },
};

const EDGEHOST_SETTINGS = {
  title: 'edgehost',
  settings: {
    webhookSecrets: rotatedSecret('EDGEHOST_STREAM_WEBHOOK_SECRET', 'Webhook secret.', 'not set'),
    customerHost: host('EDGEHOST_CUSTOMER_SUBDOMAIN', 'Full host name for playback.'),
    toleranceSeconds: integer(
      'EDGEHOST_WEBHOOK_TOLERANCE_S',
      "Seconds that a webhook's signature may be old; 0: any time.",
      { fallback: 300, min: 0, max: 86_400 },
    ),
    accountId: optionalText('EDGEHOST_ACCOUNT_ID', 'Account id.', 'not set'),
    apiToken: secret('EDGEHOST_STREAM_API_TOKEN', 'API token with permission to edit Stream.', 'not set'),
    apiUrl: apiAddress('EDGEHOST_API_URL', 'https://api.cloudflare.com/client/v4'),
    defaultDurationSeconds: integer(
      'EDGEHOST_MAX_DURATION_S',
      'Seconds of storage that an upload reserves while its `duration_ms` is not announced; a longer video ' +
        'fails.',
      { fallback: 3600, min: 1, max: UPLOAD_RULES.maxDurationSeconds },
    ),
    signingKeyId: optionalText(
      'EDGEHOST_SIGNING_KEY_ID',
      'Id of the key that signs private playback.',
      'not set',
    ),
    signingKey,
  },
};

export const readEdgehostSettings = (settings: Settings): EdgehostSettings =>
  settings.read(EDGEHOST_SETTINGS);

/** Overrides for tests. `now` is in seconds since 1970. */
export type EdgehostOverrides = { readonly limits?: ClientLimits; readonly now?: () => number };

export function openEdgehost(
  settings: EdgehostSettings,
  allowUnsigned: boolean,
  { limits, now = () => Date.now() / 1000 }: EdgehostOverrides = {},
): Provider {
  const { webhookSecrets, toleranceSeconds, accountId, apiToken } = settings;
  const { signingKeyId: id, signingKey: key } = settings;
  const signingKey = id !== undefined && key ? { id, key } : undefined;
  const api =
    accountId !== undefined && apiToken
      ? openEdgehostApi({
          ...settings,
          accountId,
          apiToken,
          signingKey,
          limits,
          now,
          hasSigningSettings: (id ?? key) !== undefined,
        })
      : undefined;
  return {
    name: 'edgehost',
    kind: 'hosted',
    capabilities: {
      webhooks: webhookSecrets.length > 0 || allowUnsigned,
      uploads: api !== undefined,
      inspection: api !== undefined,
      signedPlayback: signingKey !== undefined,
      dash: true,
      missingSettings: listMissingSettings(settings, allowUnsigned),
    },
    api,
    playback: (video) => edgehostPlayback(video, settings.customerHost),
    sign: (video) => signVideo(video, signingKey, now()),
    verify: ({ headers, body, now: receivedAt }) =>
      verifyWebhook({
        secrets: webhookSecrets,
        allowUnsigned,
        verify: () =>
          checkEdgehostSignature(headers, body, {
            secrets: webhookSecrets,
            nowSeconds: receivedAt.getTime() / 1000,
            toleranceSeconds,
          }),
        parse: () => parseEdgehostWebhook(body),
      }),
    parse: parseEdgehostWebhook,
    startJob: () => undefined,
  };
}

function signVideo(
  { videoId, urls, isPrivate, expires }: SignedVideo,
  signingKey: SigningKey | undefined,
  now: number,
): SignedUrls | undefined {
  if (!isPrivate || !signingKey) return undefined;
  const token = createVideoToken(signingKey, { videoId, expires, now });
  return { ...replaceInUrls(urls, `/${videoId}/`, `/${token}/`), expires: limitExpiry(expires, now) };
}

const listMissingSettings = (settings: EdgehostSettings, allowUnsigned: boolean): readonly string[] =>
  listMissing({
    EDGEHOST_STREAM_WEBHOOK_SECRET: allowUnsigned || settings.webhookSecrets,
    EDGEHOST_ACCOUNT_ID: settings.accountId,
    EDGEHOST_STREAM_API_TOKEN: settings.apiToken,
    EDGEHOST_CUSTOMER_SUBDOMAIN: settings.customerHost,
    EDGEHOST_SIGNING_KEY_ID: settings.signingKeyId,
    EDGEHOST_SIGNING_KEY_PEM: settings.signingKey,
  });

export const edgehost = defineProvider<EdgehostSettings>({
  name: 'edgehost',
  kind: 'hosted',
  secrets: ['EDGEHOST_STREAM_WEBHOOK_SECRET', 'EDGEHOST_STREAM_API_TOKEN'],
  playbackHost: 'EDGEHOST_CUSTOMER_SUBDOMAIN',
  canAllowUnsigned: true,
  webhook: {
    body: EdgehostReport,
    headers: ['Webhook-Signature'],
    signature: '`Webhook-Signature: time=<unix seconds>,sig1=<hex>`: HMAC-SHA256 over `<time>.<body>`.',
  },
  readSettings: readEdgehostSettings,
  open: (settings, { allowUnsigned }) => openEdgehost(settings, allowUnsigned),
});
