// Every provider: how its settings are read, and how it is opened. A new one is a folder and its lines here.
import type { ProviderName } from '../assets/asset.ts';
import type { Secret } from '../auth/secret.ts';
import type { Settings } from '../platform/settings.ts';
import { type CdnhostSettings, openCdnhost, readCdnhostSettings } from './cdnhost/cdnhost-provider.ts';
import { type EdgehostSettings, openEdgehost, readEdgehostSettings } from './edgehost/edgehost-provider.ts';
import { type OnpremSettings, openOnprem, readOnpremSettings } from './onprem/onprem-provider.ts';
import type { Provider } from './provider.ts';

export type ProviderSettings = {
  readonly cdnhost: CdnhostSettings;
  readonly edgehost: EdgehostSettings;
  readonly onprem: OnpremSettings;
};
export type Providers = Readonly<Record<ProviderName, Provider>>;

export const readProviderSettings = (settings: Settings): ProviderSettings => ({
  cdnhost: readCdnhostSettings(settings),
  edgehost: readEdgehostSettings(settings),
  onprem: readOnpremSettings(settings),
});

export type ProviderContext = {
  readonly encoderSecrets: readonly Secret[];
  readonly allowUnsigned: readonly ProviderName[];
};

export const openProviders = (
  settings: ProviderSettings,
  { encoderSecrets, allowUnsigned }: ProviderContext,
): Providers => ({
  cdnhost: openCdnhost(settings.cdnhost),
  edgehost: openEdgehost(settings.edgehost, allowUnsigned.includes('edgehost')),
  onprem: openOnprem(settings.onprem, {
    ownSecrets: encoderSecrets,
    allowUnsigned: allowUnsigned.includes('onprem'),
  }),
});
