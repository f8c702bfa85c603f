// Settings of exports of owners.
import { integer } from '../platform/settings/setting.ts';

export const OWNER_SETTINGS = {
  title: 'Exports of owners',
  settings: {
    ownerExportLimit: integer(
      'OWNER_EXPORTS_MAX',
      'Exports of owners that one process sends at the same time; further ones get 503.',
      { fallback: 2, min: 1, max: 100 },
    ),
  },
};
