// Settings of how long deleted assets and their bytes are kept.
import { integer } from '../platform/settings/setting.ts';

export const RETENTION_SETTINGS = {
  title: 'Retention',
  settings: {
    trashDays: integer('TRASH_DAYS', 'Days in which an asset deleted with `?trash=true` can be restored.', {
      fallback: 30,
      min: 0,
      max: 3650,
    }),
    purgeGraceDays: integer(
      'PURGE_GRACE_DAYS',
      'Days in which the stored bytes of deleted assets and replaced files are kept, so that a restored ' +
        'backup ' +
        'of the database finds them; 0 removes them at once.',
      { fallback: 7, min: 0, max: 3650 },
    ),
  },
};
