// The client of the edgehost API against a scripted server.
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import { type ScriptedPeer, startPeer } from '../http/scripted-peer.ts';
import { createSettings } from '../../../service/src/platform/settings/read-settings.ts';
import type { HostedApi } from '../../../service/src/providers/provider.ts';
import {
  type EdgehostOverrides,
  openEdgehost,
  readEdgehostSettings,
} from '../../../service/src/providers/edgehost/edgehost-provider.ts';

export const UID = '11112222-3333-4444-8555-666677778888';
export const PEM = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();
export const NOW = 1_700_000_000;
export const SET = {
  EDGEHOST_ACCOUNT_ID: 'account-1',
  EDGEHOST_STREAM_API_TOKEN: 'api-token',
  EDGEHOST_STREAM_WEBHOOK_SECRET: 'edgehost-secret',
  EDGEHOST_CUSTOMER_SUBDOMAIN: 'customer-x.example',
  EDGEHOST_SIGNING_KEY_ID: 'key-1',
  EDGEHOST_SIGNING_KEY_PEM: PEM,
};

export const FORM = { uid: UID, uploadURL: 'https://upload.example/one-time' };
export const DOWNLOADS = {
  default: { status: 'ready', url: `https://c.example/${UID}/downloads/default.mp4` },
};

/** The envelope of a successful response. */
export const result = (value: unknown) => ({ body: { success: true, result: value } });

/** Must be called inside a `describe`. */
export function useEdgehostApi() {
  let peer: ScriptedPeer;
  beforeAll(async () => {
    peer = await startPeer();
  });
  afterAll(() => peer.stop());
  return {
    peer: () => peer,
    lastBody: () => JSON.parse(peer.requests.at(-1)?.body ?? '') as unknown,
    apiWith(more: Record<string, string | undefined>, limits?: EdgehostOverrides['limits']): HostedApi {
      const settings = createSettings({ ...SET, EDGEHOST_API_URL: `${peer.url}/v4`, ...more });
      const overrides = { now: () => NOW, ...(limits && { limits }) };
      return openEdgehost(readEdgehostSettings(settings), false, overrides).api as HostedApi;
    },
  };
}
