// The list of providers. A new provider needs a folder and a line here.
import type { Settings } from '../platform/settings/read-settings.ts';
import { cdnhost } from './cdnhost/cdnhost-provider.ts';
import { edgehost } from './edgehost/edgehost-provider.ts';
import { onprem } from './onprem/onprem-provider.ts';
import type { Providers } from './provider.ts';
import type { ProviderContext, RegisteredProvider } from './provider-module.ts';

export const PROVIDER_MODULES: readonly RegisteredProvider[] = [cdnhost, edgehost, onprem];

/** Providers with validated settings, which are opened after the rest of the service. */
type ConfiguredProviders = readonly {
  readonly module: RegisteredProvider;
  readonly open: ReturnType<RegisteredProvider['configure']>;
}[];

export const configureProviders = (
  settings: Settings,
  modules: readonly RegisteredProvider[] = PROVIDER_MODULES,
): ConfiguredProviders => modules.map((module) => ({ module, open: module.configure(settings) }));

type OpenContext = Pick<ProviderContext, 'encoderSecrets'> & { readonly allowUnsigned: readonly string[] };

export const openProviders = (
  configured: ConfiguredProviders,
  { encoderSecrets, allowUnsigned }: OpenContext,
): Providers =>
  new Map(
    configured.map(({ module: { name }, open }) => [
      name,
      open({ encoderSecrets, allowUnsigned: allowUnsigned.includes(name) }),
    ]),
  );
