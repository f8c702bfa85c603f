// Hosted video provider with the wire format of Cloudflare Stream.
import type { KeyObject } from 'node:crypto';
import { EdgehostReport } from '@mediary/contract/operations/webhooks';
import { type Secret, toSecret } from '../../auth/secret.ts';
import type { ClientLimits } from '../../platform/http-client.ts';
import type { Settings } from '../../platform/settings.ts';
import { listMissing, readHost, readSecret, replaceInUrls } from '../hosted-settings.ts';
import { verifyWebhook } from '../verify-webhook.ts';
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

export const readEdgehostSettings = (settings: Settings): EdgehostSettings => ({
  webhookSecrets: settings.rotating('EDGEHOST_STREAM_WEBHOOK_SECRET').map(toSecret),
  toleranceSeconds: settings.integer('EDGEHOST_WEBHOOK_TOLERANCE_S', { fallback: 300, min: 0, max: 86_400 }),
  customerHost: readHost(settings, 'EDGEHOST_CUSTOMER_SUBDOMAIN'),
  apiUrl: settings.url('EDGEHOST_API_URL') ?? 'https://api.cloudflare.com/client/v4',
  accountId: settings.text('EDGEHOST_ACCOUNT_ID'),
  apiToken: readSecret(settings, 'EDGEHOST_STREAM_API_TOKEN'),
  signingKeyId: settings.text('EDGEHOST_SIGNING_KEY_ID'),
  signingKey: readSigningKey(settings),
  defaultDurationSeconds: settings.integer('EDGEHOST_MAX_DURATION_S', {
    fallback: 3600,
    min: 1,
    max: UPLOAD_RULES.maxDurationSeconds,
  }),
});

function readSigningKey({ text, problems }: Settings): KeyObject | undefined {
  const value = text('EDGEHOST_SIGNING_KEY_PEM');
  const key = value === undefined ? undefined : parseSigningKey(value);
  if (value !== undefined && !key)
    problems.push(
      'EDGEHOST_SIGNING_KEY_PEM must be an RSA private key: ' +
        "its PEM text, or the Base64 of it as in the product's API",
    );
  return key;
}

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
    signature: '`Webhook-Signature: time=<unix seconds>,sig1=<hex>`: HMAC-SHA256 over `<time>.<body>`.',
  },
  readSettings: readEdgehostSettings,
  open: (settings, { allowUnsigned }) => openEdgehost(settings, allowUnsigned),
});
