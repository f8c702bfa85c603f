// Requests of checks to the service, which are no calls of the API.
import type { ServiceAddress } from '@mediary/checks/connection';
import { type Send, sendProbe } from '@mediary/checks/probe';
import type { McpSettings } from './settings.ts';

const TIMEOUT_MS = 15_000;

/** Throws when the client cancels the call. */
export const createSend =
  ({ url }: McpSettings, signal: AbortSignal): Send =>
  async ({ path, timeoutMs = TIMEOUT_MS, ...request }) => {
    const result = await sendProbe({ ...request, timeoutMs, signal, url: url + path });
    signal.throwIfAborted();
    return result;
  };

export const toAddress = ({ url }: McpSettings): ServiceAddress => ({ url, setBy: 'MEDIARY_URL' });
