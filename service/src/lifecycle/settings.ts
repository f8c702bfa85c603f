// Settings of how long deleted assets, their bytes, events and samples are kept.
import { integer } from '../platform/settings/setting.ts';

export const RETENTION_SETTINGS = {
  title: 'Retention',
  settings: {
    trashDays: integer('TRASH_DAYS', 'Days in which an asset deleted with `?trash=true` can be restored.', {
      fallback: 30,
      min: 0,
      max: 3650,
    }),
    eventRetentionDays: integer(
      'EVENT_RETENTION_DAYS',
      'Days that events are kept at least, with timelines and the positions from which streams resume; ' +
        'whole months are removed. 0 keeps all.',
      { fallback: 0, min: 0, max: 36_500 },
    ),
    sampleRetentionHours: integer(
      'SAMPLE_RETENTION_H',
      'Hours that the samples of `GET /api/v1/admin/samples` are kept; 0 records none.',
      { fallback: 24, min: 0, max: 168 },
    ),
    purgeGraceDays: integer(
      'PURGE_GRACE_DAYS',
      'Days in which the stored bytes of deleted assets and replaced files are kept, so that a restored ' +
        'backup ' +
        'of the database finds them; 0 removes them at once.',
      { fallback: 7, min: 0, max: 3650 },
    ),
  },
};
