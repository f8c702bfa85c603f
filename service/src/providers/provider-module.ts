// What a provider brings: everything that the service knows about providers is derived from a list of these.
import type { TSchema } from 'typebox';
import type { Secret } from '../auth/secret.ts';
import type { Settings } from '../platform/settings.ts';
import type { Provider } from './provider.ts';

export type ProviderContext = {
  /** `WEBHOOKS_ALLOW_UNSIGNED` names this provider. */
  readonly allowUnsigned: boolean;
  /** Secrets that sign the reports of the service's own encoder. */
  readonly encoderSecrets: readonly Secret[];
};

export type ProviderModule<S> = {
  /** Lower-case letters and digits: part of the webhook's path, of settings and of the API. */
  readonly name: string;
  readonly kind: Provider['kind'];
  /** Names of the settings that hold secrets; the first one verifies webhooks. */
  readonly secrets: readonly [webhookSecret: string, ...others: string[]];
  /** Name of the setting with the host that plays its videos; hosted providers alone. */
  readonly playbackHost?: string;
  /** Whether `WEBHOOKS_ALLOW_UNSIGNED` may name it. */
  readonly canAllowUnsigned: boolean;
  /** For the API documentation: the body of its webhook, and how it is signed. */
  readonly webhook: { readonly body: TSchema; readonly signature: string };
  /** Adds what is wrong to `settings.problems`; a missing setting is no problem. */
  readonly readSettings: (settings: Settings) => S;
  readonly open: (settings: S, context: ProviderContext) => Provider;
};

/** A module whose type of settings is nobody else's concern. */
export type RegisteredProvider = Omit<ProviderModule<never>, 'readSettings' | 'open'> & {
  readonly configure: (settings: Settings) => (context: ProviderContext) => Provider;
};

export function defineProvider<S>({ readSettings, open, ...module }: ProviderModule<S>): RegisteredProvider {
  return {
    ...module,
    configure(settings) {
      const own = readSettings(settings);
      return (context) => open(own, context);
    },
  };
}
