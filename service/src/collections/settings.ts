// Settings of collections.
import { MAX_COLLECTION_ASSETS } from '@mediary/contract/schemas/collections';
import { integer } from '../platform/settings/setting.ts';

export const COLLECTION_SETTINGS = {
  title: 'Collections',
  settings: {
    collectionLimits: {
      perOwner: integer('COLLECTIONS_PER_OWNER', 'Collections of one owner.', {
        fallback: 1000,
        min: 1,
        max: 100_000,
      }),
      assets: integer(
        'COLLECTION_MAX_ASSETS',
        'Assets of one collection, those in the trash included. A request that finds no gap for an asset ' +
          'writes the positions of all of them.',
        { fallback: 2000, min: 1, max: MAX_COLLECTION_ASSETS },
      ),
    },
  },
};
