// Settings of backups of the embedded database.
import { integer, optionalText } from '../../platform/settings/setting.ts';

export const BACKUP_SETTINGS = {
  title: 'Backups',
  settings: {
    backup: {
      folder: optionalText(
        'BACKUP_TO',
        'Folder of backups outside `DATA_DIR`, better on another disk: the service then backs up its ' +
          'embedded database and all objects, and the changes of the database in between ' +
          '([guide](guides/backup.md)).',
        'no backups',
      ),
      everySeconds: integer('BACKUP_EVERY_H', 'Hours from one backup to the next.', {
        fallback: 24,
        min: 1,
        max: 720,
        scale: 3600,
      }),
      logEverySeconds: integer(
        'BACKUP_LOG_EVERY_S',
        'Seconds after which changes of the database are in the backup: what a loss of the disk costs.',
        { fallback: 60, min: 1, max: 3600 },
      ),
      keepDays: integer('BACKUP_KEEP_DAYS', 'Days to any moment of which the database can be restored.', {
        fallback: 7,
        min: 1,
        max: 3650,
      }),
    },
  },
};

type BackupSettings = {
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  readonly backup: { readonly folder: string | undefined };
};

/** Both folders are absolute. */
export function findBackupProblems({ backup, dataDir, databaseUrl }: BackupSettings): string[] {
  if (backup.folder === undefined) return [];
  if (databaseUrl !== undefined)
    return ['BACKUP_TO must not be set with DATABASE_URL: back it up with the tools of PostgreSQL'];
  const isInside = `${backup.folder}/`.startsWith(`${dataDir}/`);
  return isInside ? [`BACKUP_TO must be outside DATA_DIR, which is ${dataDir}`] : [];
}
