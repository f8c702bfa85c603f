// The edge video provider whose wire format is Cloudflare Stream's.
import { type Secret, secret } from '../../auth/secret.ts';
import type { Settings } from '../../platform/settings.ts';
import { openWith } from '../opening.ts';
import type { Provider } from '../provider.ts';
import { readEdgehost } from './edgehost-report.ts';
import { checkEdgehostSignature } from './edgehost-signature.ts';

export type EdgehostSettings = {
  readonly webhookSecrets: readonly Secret[];
  /** Seconds that a signature's time may be off; 0 = any time. */
  readonly toleranceSeconds: number;
  readonly customerHost: string | undefined;
};

export const readEdgehostSettings = (settings: Settings): EdgehostSettings => ({
  webhookSecrets: settings.rotating('EDGEHOST_STREAM_WEBHOOK_SECRET').map(secret),
  toleranceSeconds: settings.integer('EDGEHOST_WEBHOOK_TOLERANCE_S', { fallback: 300, min: 0, max: 86_400 }),
  customerHost: settings.text('EDGEHOST_CUSTOMER_SUBDOMAIN'),
});

export const openEdgehost = ({ webhookSecrets, toleranceSeconds, customerHost }: EdgehostSettings, allowUnsigned: boolean): Provider => ({
  name: 'edgehost',
  kind: 'hosted',
  capabilities: { webhooks: webhookSecrets.length > 0 || allowUnsigned, uploads: false, inspection: false, signedPlayback: false, dash: true, missingSettings: [] },
  api: undefined,
  sign: () => undefined,
  open: ({ headers, body, now }) => openWith({
    secrets: webhookSecrets, allowUnsigned,
    verify: () => checkEdgehostSignature(headers, body, { secrets: webhookSecrets, nowSeconds: now.getTime() / 1000, toleranceSeconds }),
    read: () => readEdgehost(body, customerHost),
  }),
  read: (body) => readEdgehost(body, customerHost),
  startJob: () => undefined,
});
