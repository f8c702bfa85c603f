// Describes failed credential checks for operators.
import { ProviderFailed, type ProviderFailureCode } from './provider.ts';

/** `url` is the configured value; `key` and `place` are names of settings. */
type CheckedSettings = { readonly url: string; readonly key: string; readonly place: string };

/** Describes the failure; empty after a success. */
export async function describeFailure(
  trial: Promise<unknown>,
  tried: CheckedSettings,
): Promise<readonly string[]> {
  try {
    await trial;
    return [];
  } catch (error) {
    if (!(error instanceof ProviderFailed)) throw error;
    const {
      failure: { code, message },
      providerCode,
    } = error;
    const words = WORDS[code as ProviderFailureCode]?.(tried) ?? `${tried.url}: ${message}`;
    return [providerCode === undefined ? words : `${words} (${providerCode})`];
  }
}

const WORDS: Partial<Record<ProviderFailureCode, (tried: CheckedSettings) => string>> = {
  provider_unreachable: ({ url }) => `${url} cannot be reached`,
  provider_timeout: ({ url }) => `${url} does not answer`,
  provider_credentials: ({ url, key, place }) => `${url} does not accept ${key} for the ${place} that is set`,
  provider_video_missing: ({ url, place }) => `${url} does not know the ${place} that is set`,
};
