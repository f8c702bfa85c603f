// Provider for on-prem encoders. The signing secret distinguishes our own encoder from the operator's.
import { OnpremReport } from '@mediary/contract/operations/webhooks';
import type { Secret } from '../../auth/secret.ts';
import { rotatedSecret } from '../../auth/secret-settings.ts';
import { parseEncoderReport } from '../../encoding/encoder-report.ts';
import type { Settings } from '../../platform/settings/read-settings.ts';
import { integer, url } from '../../platform/settings/setting.ts';
import { isUuid } from '../../platform/values/uuid.ts';
import { parseJson } from '../../platform/values/strict-json.ts';
import { toJsonObject, NOT_ACTIONABLE, rejectMalformed, verifyWebhook } from '../shared/verify-webhook.ts';
import type { Provider, ParsedWebhook } from '../provider.ts';
import { defineProvider, type ProviderContext } from '../provider-module.ts';
import { openEncoderApi } from './onprem-api.ts';
import { checkOnpremSignature } from './onprem-signature.ts';

type OnpremSettings = {
  readonly webhookSecrets: readonly Secret[];
  /** The operator's own encoder; undefined: our workers encode. */
  readonly encoderUrl: string | undefined;
  readonly heartbeatSeconds: number;
};

const MAX_HEARTBEAT_S = 86_400;

const ONPREM_SETTINGS = {
  title: 'onprem: your own encoder',
  settings: {
    webhookSecrets: rotatedSecret(
      'ONPREM_WEBHOOK_SECRET',
      'Signs the webhooks of your own encoder, and the jobs for it.',
      'not set',
    ),
    encoderUrl: url(
      'ONPREM_ENCODER_URL',
      'Where your own encoder, which takes the place of the workers, gets jobs ' +
        '([guide](guides/write-an-encoder.md#get-jobs)).',
      'workers encode',
    ),
    heartbeatSeconds: integer(
      'ONPREM_ENCODER_HEARTBEAT_S',
      'Seconds without a report after which your own encoder is asked again.',
      { fallback: 300, min: 1, max: MAX_HEARTBEAT_S },
    ),
  },
};

export function readOnpremSettings(settings: Settings): OnpremSettings {
  const values = settings.read(ONPREM_SETTINGS);
  if (values.encoderUrl !== undefined && values.webhookSecrets.length === 0)
    settings.problems.push(
      'ONPREM_WEBHOOK_SECRET must be set where ONPREM_ENCODER_URL is: it signs the jobs',
    );
  return values;
}

const openEncoder = ({ webhookSecrets: [secret], encoderUrl: url, heartbeatSeconds }: OnpremSettings) =>
  url === undefined || !secret
    ? undefined
    : openEncoderApi({ url, secret, heartbeatMs: heartbeatSeconds * 1000 });

export const openOnprem = (
  settings: OnpremSettings,
  { encoderSecrets, allowUnsigned }: ProviderContext,
): Provider => ({
  name: 'onprem',
  kind: 'encoder',
  capabilities: {
    webhooks: true,
    uploads: true,
    inspection: false,
    signedPlayback: true,
    dash: true,
    missingSettings: [],
  },
  encoder: openEncoder(settings),
  api: undefined,
  playback: undefined,
  sign: () => undefined,
  verify({ headers, body }) {
    if (checkOnpremSignature(headers, body, encoderSecrets))
      return rejectMalformed(() => parseOnpremWebhook(body, true));
    return verifyWebhook({
      secrets: settings.webhookSecrets,
      allowUnsigned,
      verify: () => checkOnpremSignature(headers, body, settings.webhookSecrets),
      parse: () => parseOnpremWebhook(body, false),
    });
  },
  parse: (body, { isOwnEncoder }) => parseOnpremWebhook(body, isOwnEncoder),
  startJob: ({ id, attempt }) => ({
    name: settings.encoderUrl === undefined ? 'encode-asset' : 'ask-encoder',
    payload: { assetId: id, attempt },
  }),
});

export const onprem = defineProvider<OnpremSettings>({
  name: 'onprem',
  kind: 'encoder',
  secrets: ['ONPREM_WEBHOOK_SECRET'],
  canAllowUnsigned: true,
  webhook: {
    body: OnpremReport,
    headers: ['X-Onprem-Signature', 'X-Webhook-Signature'],
    signature:
      '`X-Onprem-Signature` or `X-Webhook-Signature`: ' +
      'SHA-256 over the body followed by the secret, as 64 hex digits.',
  },
  readSettings: readOnpremSettings,
  open: openOnprem,
});

function parseOnpremWebhook(body: Uint8Array, isOwnEncoder: boolean): ParsedWebhook {
  const members = toJsonObject(parseJson(body));
  const assetId = members?.['asset_id'];
  if (!members || typeof assetId !== 'string' || !isUuid(assetId)) return NOT_ACTIONABLE;
  const report = parseEncoderReport(members, isOwnEncoder);
  return report ? { report, ref: { assetId }, isOwnEncoder } : NOT_ACTIONABLE;
}
