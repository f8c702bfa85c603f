// Settings of exports and imports of owners.
import { integer } from '../platform/settings/setting.ts';

export const OWNER_SETTINGS = {
  title: 'Exports and imports of owners',
  settings: {
    ownerExportLimit: integer(
      'OWNER_EXPORTS_MAX',
      'Exports of owners that one process sends at the same time; further ones get 503.',
      { fallback: 2, min: 1, max: 100 },
    ),
    ownerImportLimits: {
      imports: integer(
        'OWNER_IMPORTS_MAX',
        'Imports of owners that one process receives at the same time, one of each owner; further ones ' +
          'get 503.',
        { fallback: 2, min: 1, max: 100 },
      ),
      bytes: integer('OWNER_IMPORT_MAX_BYTES', 'Largest archive that an import reads, in bytes.', {
        fallback: 1024 ** 4,
        min: 1024,
        max: Number.MAX_SAFE_INTEGER,
      }),
      assets: integer(
        'OWNER_IMPORT_MAX_ASSETS',
        'Most assets that an import reads from one archive. The report names each, so it needs about ' +
          '200 bytes of memory for an asset.',
        { fallback: 100_000, min: 1, max: 1_000_000 },
      ),
    },
  },
};
