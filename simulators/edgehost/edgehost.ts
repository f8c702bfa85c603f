// edgehost (wire format of Cloudflare Stream) as a local server: API, uploads, delivery host and webhooks on
// one port.
import { type ProviderContext, type Simulator, startSimulator, type SimulatorContext } from '../simulator.ts';
import { type Account, type EdgehostSettings, reportOf, type Webhook } from './account.ts';
import { ACCOUNT_ROUTES } from './account-api.ts';
import { CAPTION_ROUTES } from './captions.ts';
import { apiRoutes, verifyRoutes } from './guard.ts';
import { playbackRoutes } from './playback.ts';
import { newSigningKey, type SigningKey, signingKeyFrom, webhookSignature } from './signatures.ts';
import { uploadRoutes } from './uploads.ts';
import type { EdgehostVideo } from './video.ts';
import { VIDEO_ROUTES } from './videos-api.ts';

export type EdgehostOptions = Partial<EdgehostSettings> & {
  /** Default: 0, any free port. */
  readonly port?: number;
  readonly webhookUrl?: string;
  readonly webhookSecret?: string;
  /** `pem` in Base64 as in the API, or as text; generated when omitted. */
  readonly signingKey?: { readonly id: string; readonly pem: string };
};
export type EdgehostSimulator = Simulator<EdgehostVideo>;

const DEFAULTS: EdgehostSettings = {
  accountId: 'simulated-account',
  apiToken: 'simulated-api-token-of-an-account-that-may-write',
  maxFormBytes: 209_715_200,
  storageMinutes: 100_000,
};

export async function startEdgehost(
  context: SimulatorContext,
  options: EdgehostOptions,
): Promise<EdgehostSimulator> {
  const {
    port = 0,
    webhookUrl,
    webhookSecret = 'simulated-webhook-secret-of-an-account',
    signingKey,
    ...given
  } = options;
  const created = new Date(context.clock.now()).toISOString();
  const key = signingKey ? signingKeyFrom({ ...signingKey, created }) : await newSigningKey(created);
  const webhook: Webhook = {
    url: webhookUrl,
    secret: webhookSecret,
    modified: created,
  };
  return startSimulator({
    port,
    context,
    webhook,
    sign: (body, time) => ({
      'Webhook-Signature': `time=${time},sig1=${webhookSignature(webhook.secret, time, body)}`,
    }),
    open: (context) => openAccount(context, { settings: { ...DEFAULTS, ...given }, webhook, key }),
  });
}

function openAccount(
  context: ProviderContext,
  { settings, webhook, key }: Pick<Account, 'settings' | 'webhook'> & { readonly key: SigningKey },
) {
  const account: Account = {
    settings,
    context,
    webhook,
    keys: new Map([[key.id, key]]),
    entries: new Map(),
    uploads: new Map(),
  };
  return {
    routes: [
      ...uploadRoutes(account),
      ...verifyRoutes(account),
      ...apiRoutes(account, [...VIDEO_ROUTES, ...CAPTION_ROUTES, ...ACCOUNT_ROUTES]),
      ...playbackRoutes(account),
    ],
    environment: {
      EDGEHOST_API_URL: `${context.origin}/client/v4`,
      EDGEHOST_ACCOUNT_ID: settings.accountId,
      EDGEHOST_STREAM_API_TOKEN: settings.apiToken,
      EDGEHOST_STREAM_WEBHOOK_SECRET: webhook.secret,
      EDGEHOST_CUSTOMER_SUBDOMAIN: context.origin,
      EDGEHOST_SIGNING_KEY_ID: key.id,
      EDGEHOST_SIGNING_KEY_PEM: key.pem,
    },
    videos: () => [...account.entries.values()].map(({ video }) => video),
    reportOf: (video: string, kind: number | string) => reportOf(account, video, kind),
    clear: () => {
      account.entries.clear();
      account.uploads.clear();
    },
  };
}
