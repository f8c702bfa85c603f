// Settings of backups of the embedded database.
import { secret } from '../../auth/secret-settings.ts';
import { integer, optionalText, text, url } from '../../platform/settings/setting.ts';
import { isBucket, isPrefix, type S3Location } from '../../storage/storage-url.ts';

export const BACKUP_SETTINGS = {
  title: 'Backups',
  settings: {
    backup: {
      place: optionalText(
        'BACKUP_TO',
        'Where backups go: a folder outside `DATA_DIR`, better on another disk, or ' +
          '`s3://<bucket>/<prefix>`. The service then backs up its embedded database and all objects, and ' +
          'the changes of the database in between ([guide](guides/backup.md)).',
        'no backups',
      ),
      s3: {
        endpoint: url('BACKUP_S3_ENDPOINT', 'Address of the S3-compatible store of backups.', 'Amazon S3'),
        region: text('BACKUP_S3_REGION', 'Region of the bucket of backups.', 'us-east-1'),
        accessKeyId: optionalText(
          'BACKUP_S3_ACCESS_KEY_ID',
          'Access key for the bucket of backups.',
          'credentials come from the AWS chain',
        ),
        secretAccessKey: secret(
          'BACKUP_S3_SECRET_ACCESS_KEY',
          'The secret of `BACKUP_S3_ACCESS_KEY_ID`.',
          'credentials come from the AWS chain',
        ),
      },
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
      keepDays: integer(
        'BACKUP_KEEP_DAYS',
        'Days for which backups are kept: the database can be restored to any moment of them.',
        {
          fallback: 7,
          min: 1,
          max: 3650,
        },
      ),
    },
  },
};

type BackupStore = {
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly accessKeyId: string | undefined;
  readonly secretAccessKey: { readonly reveal: () => string } | undefined;
};

type BackupSettings = {
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  /** The bucket of STORAGE_URL. */
  readonly s3: S3Location | undefined;
  readonly backup: { readonly place: string | undefined; readonly s3: BackupStore };
};

export const isBucketPlace = (place: string): boolean => place.startsWith('s3:');

/** `s3://bucket/prefix`. Throws with what is allowed. */
export function parseBucketPlace(place: string, { endpoint, region }: BackupStore): S3Location {
  const [, bucket = '', prefix = ''] = /^s3:\/\/([^/]*)(?:\/(.*?))?\/?$/.exec(place) ?? [];
  if (!isBucket(bucket) || !(prefix === '' || isPrefix(prefix)))
    throw new Error(
      `"${place}" is not a bucket for backups. Expected s3://<bucket> or s3://<bucket>/<prefix>; the ` +
        'prefix may contain letters, digits, dots, hyphens, underscores and slashes',
    );
  return {
    bucket,
    region,
    endpoint,
    publicEndpoint: endpoint,
    direct: false,
    pathStyle: endpoint !== undefined,
    prefix: prefix === '' ? '' : `${prefix}/`,
  };
}

/** Both are absolute. */
export const isBelow = (folder: string, path: string): boolean => `${path}/`.startsWith(`${folder}/`);

/** Folders are absolute. */
export function findBackupProblems({ backup, dataDir, databaseUrl, s3 }: BackupSettings): string[] {
  const problems: string[] = [];
  if ((backup.s3.accessKeyId === undefined) !== (backup.s3.secretAccessKey === undefined))
    problems.push('BACKUP_S3_ACCESS_KEY_ID and BACKUP_S3_SECRET_ACCESS_KEY must be set together');
  if (backup.place === undefined) return problems;
  if (databaseUrl !== undefined)
    problems.push('BACKUP_TO must not be set with DATABASE_URL: back it up with the tools of PostgreSQL');
  else if (isBucketPlace(backup.place)) problems.push(...findBucketProblems(backup.place, backup.s3, s3));
  else if (isBelow(dataDir, backup.place))
    problems.push(`BACKUP_TO must be outside DATA_DIR, which is ${dataDir}`);
  return problems;
}

/** `store`: the bucket of STORAGE_URL. */
function findBucketProblems(place: string, backup: BackupStore, store: S3Location | undefined): string[] {
  try {
    const { bucket, endpoint } = parseBucketPlace(place, backup);
    return bucket === store?.bucket && endpoint === store.endpoint
      ? ['BACKUP_TO must name another bucket than STORAGE_URL: the loss of a bucket would cost both']
      : [];
  } catch (error) {
    return [`BACKUP_TO: ${(error as Error).message}`];
  }
}
