// The clients of one run: one for assets, one for operators, each with its own credential.
import { type CallOptions, createMediary, type Mediary } from '@mediary/client';
import { ToolError } from './tool-error.ts';
import type { McpSettings } from './settings.ts';

export type ServiceClients = {
  readonly settings: McpSettings;
  /** Throws a tool error without a token and a service key. */
  assets(): Mediary;
  readonly operator: Mediary | undefined;
};

/** An assistant waits for a tool: an error comes soon. The SDK's default waits longer. */
const MAX_RETRIES = 2;

export function createClients(settings: McpSettings): ServiceClients {
  const { url: baseUrl, credential, owner, operatorKey } = settings;
  const common = { baseUrl, maxRetries: MAX_RETRIES };
  const isServiceKey = credential !== undefined && 'serviceKey' in credential;
  const assets =
    credential && createMediary({ ...common, ...credential, ...(isServiceKey && { ownerUserId: owner }) });
  return {
    settings,
    assets: () => {
      if (assets) return assets;
      throw new ToolError('This tool needs an access token or a service key, and none is configured.', {
        errorCode: 'NOT_CONFIGURED',
        hint:
          'Set MEDIARY_TOKEN, or MEDIARY_SERVICE_KEY with MEDIARY_OWNER, in the configuration of this ' +
          'server.',
      });
    },
    operator:
      operatorKey === undefined
        ? undefined
        : createMediary({ ...common, headers: { 'x-operator-key': operatorKey } }),
  };
}

/** The options of a call: the owner that the arguments name, and the cancellation by the client. */
export const toCallOptions = (
  owner_user_id: string | undefined,
  signal: AbortSignal,
): Pick<CallOptions, 'signal' | 'ownerUserId'> => ({
  signal,
  ...(owner_user_id !== undefined && { ownerUserId: owner_user_id }),
});
