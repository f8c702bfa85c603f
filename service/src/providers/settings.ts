// Settings of the choice of providers. Each provider module has its own.
import type { ProviderName } from '../assets/asset.ts';
import type { Settings } from '../platform/settings/read-settings.ts';
import { choice, list } from '../platform/settings/setting.ts';
import type { RegisteredProvider } from './provider-module.ts';

const toProviderSettings = (modules: readonly RegisteredProvider[]) => {
  const unsigned = modules.filter(({ canAllowUnsigned }) => canAllowUnsigned).map(({ name }) => name);
  return {
    title: 'Providers',
    settings: {
      videoProvider: choice<ProviderName>('VIDEO_PROVIDER', 'Default provider of videos.', {
        choices: modules.map(({ name }) => name),
        fallback: 'onprem',
      }),
      allowUnsigned: list<readonly ProviderName[]>(
        'WEBHOOKS_ALLOW_UNSIGNED',
        'Accepts unsigned webhooks of these providers while the secret is not set (development only).',
        {
          byDefault: 'none',
          allowed: unsigned.join(', '),
          parse(named, report) {
            if (named.some((name) => !unsigned.includes(name)))
              report(`WEBHOOKS_ALLOW_UNSIGNED may name ${unsigned.join(' and ')} only`);
            return named.filter((name) => unsigned.includes(name));
          },
        },
      ),
    },
  };
};

export const readProviderSettings = (settings: Settings, modules: readonly RegisteredProvider[]) =>
  settings.read(toProviderSettings(modules));
