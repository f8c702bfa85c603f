// Calls hosted providers through their circuit breakers.
import type { ProviderName } from '../assets/asset.ts';
import {
  afterFailure,
  afterSuccess,
  type Circuit,
  CLOSED_CIRCUIT,
  isOpen,
  waitSeconds,
  halfOpen,
} from './circuit.ts';
import { getProvider, type HostedApi, ProviderFailed, type Providers } from './provider.ts';

export type CallNeeds = {
  readonly providers: Providers;
  /** State of this process only; each process detects failures itself. */
  readonly circuits: Map<ProviderName, Circuit>;
  readonly now: () => Date;
};

/** Throws ProviderFailed, also when the provider's API is not configured. */
export type Call = <T>(name: ProviderName, work: (api: HostedApi) => Promise<T>) => Promise<T>;

export const createProviderCaller =
  ({ providers, circuits, now }: CallNeeds): Call =>
  async (name, work) => {
    const { api } = getProvider(providers, name);
    if (!api) throw new ProviderFailed('provider_credentials', { providerCode: 'not configured' });
    const circuit = circuits.get(name) ?? CLOSED_CIRCUIT;
    if (isOpen(circuit, now().getTime()))
      throw new ProviderFailed('provider_unreachable', {
        providerCode: 'circuit open',
        retryAfterSeconds: waitSeconds(circuit, now().getTime()),
      });
    circuits.set(name, halfOpen(circuit, now().getTime()));
    try {
      const result = await work(api);
      circuits.set(name, afterSuccess(now().getTime()));
      return result;
    } catch (error) {
      if (error instanceof ProviderFailed)
        circuits.set(
          name,
          afterFailure(circuits.get(name) ?? CLOSED_CIRCUIT, troubleOf(error), now().getTime()),
        );
      throw error;
    }
  };

const OURS: readonly string[] = ['provider_rejected', 'provider_video_missing'];

const troubleOf = ({ failure: { code }, retryAfterSeconds }: ProviderFailed) => ({
  code,
  isOurs: OURS.includes(code),
  retryAfterSeconds,
});
