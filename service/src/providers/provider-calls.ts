// Calls hosted providers through their circuit breakers.
import type { ProviderName } from '../assets/asset.ts';
import { afterFailure, afterSuccess, CLOSED_CIRCUIT, halfOpen, isOpen, waitSeconds } from './circuit.ts';
import type { ProvidersContext } from './context.ts';
import { getProvider, type HostedApi, ProviderError } from './provider.ts';

export type CallProvider = <T>(name: ProviderName, work: (api: HostedApi) => Promise<T>) => Promise<T>;

/** Throws ProviderError, also when the provider's API is not configured. */
export async function callProvider<T>(
  { registry, circuits, clocks }: ProvidersContext,
  name: ProviderName,
  work: (api: HostedApi) => Promise<T>,
): Promise<T> {
  const { api } = getProvider(registry, name);
  if (!api) throw new ProviderError('provider_credentials', { providerCode: 'not configured' });
  const nowMs = () => clocks.now().getTime();
  const circuit = circuits.get(name) ?? CLOSED_CIRCUIT;
  if (isOpen(circuit, nowMs()))
    throw new ProviderError('provider_unreachable', {
      providerCode: 'circuit open',
      retryAfterSeconds: waitSeconds(circuit, nowMs()),
    });
  circuits.set(name, halfOpen(circuit, nowMs()));
  try {
    const result = await work(api);
    circuits.set(name, afterSuccess(nowMs()));
    return result;
  } catch (error) {
    if (error instanceof ProviderError)
      circuits.set(name, afterFailure(circuits.get(name) ?? CLOSED_CIRCUIT, toCallFailure(error), nowMs()));
    throw error;
  }
}

const REQUEST_ERRORS: readonly string[] = ['provider_rejected', 'provider_video_missing', 'provider_quota'];

const toCallFailure = ({ failure: { code }, retryAfterSeconds }: ProviderError) => ({
  code,
  isRequestError: REQUEST_ERRORS.includes(code),
  retryAfterSeconds,
});
