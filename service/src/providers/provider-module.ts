// The definition of a provider. Settings, routes, API documentation and warnings are derived from it.
import type { TSchema } from 'typebox';
import type { Secret } from '../auth/secret.ts';
import type { Settings } from '../platform/settings/read-settings.ts';
import type { Provider } from './provider.ts';

export type ProviderContext = {
  /** True when `WEBHOOKS_ALLOW_UNSIGNED` contains this provider. */
  readonly allowUnsigned: boolean;
  /** Secrets that sign the reports of our own encoder. */
  readonly encoderSecrets: readonly Secret[];
};

type ProviderModule<S> = {
  /** Lower-case letters and digits; part of the webhook path, of settings and of the API. */
  readonly name: string;
  readonly kind: Provider['kind'];
  /** Names of the settings with secrets; the first one verifies webhooks. */
  readonly secrets: readonly [webhookSecret: string, ...others: string[]];
  /** Name of the setting with the host that plays its videos; hosted providers alone. */
  readonly playbackHost?: string;
  /** True when `WEBHOOKS_ALLOW_UNSIGNED` may contain it. */
  readonly canAllowUnsigned: boolean;
  /** For the API documentation: the webhook's body, and its signature in one of the headers. */
  readonly webhook: {
    readonly body: TSchema;
    readonly headers: readonly string[];
    readonly signature: string;
  };
  /** Adds errors to `settings.problems`; a missing setting is no error. */
  readonly readSettings: (settings: Settings) => S;
  readonly open: (settings: S, context: ProviderContext) => Provider;
};

/** Hides the type of the module's settings. */
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
