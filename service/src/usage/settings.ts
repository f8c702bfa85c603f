// Settings of quotas.
import { optionalInteger } from '../platform/settings/setting.ts';

const NO_LIMIT = { byDefault: 'no limit', min: 1, max: Number.MAX_SAFE_INTEGER };

export const USAGE_SETTINGS = {
  title: 'Quotas of owners',
  settings: {
    ownerLimits: {
      bytes: optionalInteger(
        'OWNER_MAX_BYTES',
        'Bytes of the originals of one owner, those in the trash included. Set quotas in API processes: ' +
          'they ' +
          'hold for all processes ([guide](guides/going-to-production.md#7-quotas)).',
        NO_LIMIT,
      ),
      assets: optionalInteger(
        'OWNER_MAX_ASSETS',
        'Assets of one owner, those in the trash included.',
        NO_LIMIT,
      ),
      pending: optionalInteger('OWNER_MAX_PENDING', 'Open uploads of one owner.', NO_LIMIT),
    },
  },
};
