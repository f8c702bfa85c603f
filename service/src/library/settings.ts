// Settings of lists of assets.
import { integer } from '../platform/settings/setting.ts';

export const LIBRARY_SETTINGS = {
  title: 'Lists',
  settings: {
    sortedListMaxAssets: integer(
      'SORTED_LIST_MAX_ASSETS',
      'Assets that a list may have when it is sorted by something else than `created_at`, or filtered by ' +
        '`updated_after`: a page of it reads all of them.',
      { fallback: 10_000, min: 1, max: 1_000_000 },
    ),
  },
};
