// The on-prem encoder, ours or the operator's: both come in by the same door, told apart by the secret that signed.
import { type Secret, secret } from '../../auth/secret.ts';
import { reportOf } from '../../encoding/encoder-report.ts';
import type { Settings } from '../../platform/settings.ts';
import { isUuid } from '../../platform/uuid.ts';
import { parseJson } from '../../platform/strict-json.ts';
import { membersOf, NOT_ACTIONABLE, openWith, payload } from '../opening.ts';
import type { Provider, Reading } from '../provider.ts';
import { checkOnpremSignature } from './onprem-signature.ts';

export type OnpremSettings = { readonly webhookSecrets: readonly Secret[] };

export const readOnpremSettings = (settings: Settings): OnpremSettings => ({
  webhookSecrets: settings.rotating('ONPREM_WEBHOOK_SECRET').map(secret),
});

/** `ownSecrets` sign our encoder's reports; the door always knows them. */
export type OnpremContext = { readonly ownSecrets: readonly Secret[]; readonly allowUnsigned: boolean };

export const openOnprem = (
  { webhookSecrets }: OnpremSettings,
  { ownSecrets, allowUnsigned }: OnpremContext,
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
  api: undefined,
  sign: () => undefined,
  open({ headers, body }) {
    if (checkOnpremSignature(headers, body, ownSecrets)) return payload(() => readOnprem(body, true));
    return openWith({
      secrets: webhookSecrets,
      allowUnsigned,
      verify: () => checkOnpremSignature(headers, body, webhookSecrets),
      read: () => readOnprem(body, false),
    });
  },
  read: (body, { isOurs }) => readOnprem(body, isOurs),
  startJob: ({ id, attempt }) => ({ name: 'encode-asset', payload: { assetId: id, attempt } }),
});

function readOnprem(body: Uint8Array, isOurs: boolean): Reading {
  const members = membersOf(parseJson(body));
  const assetId = members?.['asset_id'];
  if (!members || typeof assetId !== 'string' || !isUuid(assetId)) return NOT_ACTIONABLE;
  const report = reportOf(members, isOurs);
  return report ? { report, ref: { assetId }, isOurs } : NOT_ACTIONABLE;
}
