// Settings of backups: folders and buckets, and the problems of both.
import { expect, test } from 'vitest';
import { toSecret } from '../../auth/secret.ts';
import { parseS3Url } from '../../storage/storage-url.ts';
import { findBackupProblems, parseBucketPlace } from './settings.ts';

const AMAZON = {
  endpoint: undefined,
  region: 'eu-central-1',
  accessKeyId: undefined,
  secretAccessKey: undefined,
};
const OWN = { ...AMAZON, endpoint: 'https://s3.example.com' };

const problemsOf = (
  place: string | undefined,
  more: Partial<Parameters<typeof findBackupProblems>[0]> = {},
) =>
  findBackupProblems({
    dataDir: '/srv/mediary',
    databaseUrl: undefined,
    s3: undefined,
    backup: { place, s3: AMAZON },
    ...more,
  });

test.for([
  ['s3://media-backup', ''],
  ['s3://media-backup/', ''],
  ['s3://media-backup/home', 'home/'],
  ['s3://media-backup/home/one/', 'home/one/'],
] as const)('%s is a bucket and a prefix', ([place, prefix]) => {
  expect(parseBucketPlace(place, AMAZON)).toMatchObject({
    bucket: 'media-backup',
    prefix,
    region: 'eu-central-1',
    pathStyle: false,
  });
  expect(parseBucketPlace(place, OWN)).toMatchObject({ endpoint: OWN.endpoint, pathStyle: true });
});

test.for([
  's3:',
  's3://',
  's3://UPPER/x',
  's3://key:secret@media-backup/x',
  's3://media-backup:9000/x',
  's3://media-backup//x',
  's3://media-backup/../x',
  's3://media-backup/a b',
  's3://media-backup/x?region=y',
])('%s is refused', (place) => {
  expect(() => parseBucketPlace(place, AMAZON)).toThrow('Expected s3://<bucket> or s3://<bucket>/<prefix>');
  expect(problemsOf(place)).toEqual([expect.stringMatching(/^BACKUP_TO: /)]);
});

test('a backup lies where a loss of the data does not reach it', () => {
  expect(problemsOf(undefined)).toEqual([]);
  expect(problemsOf('/mnt/backup')).toEqual([]);
  expect(problemsOf('/srv/mediary-backup')).toEqual([]);
  expect(problemsOf('/srv/mediary/backup')).toEqual([
    'BACKUP_TO must be outside DATA_DIR, which is /srv/mediary',
  ]);
  const s3 = parseS3Url('s3://media?region=eu-central-1', () => {});
  expect(problemsOf('s3://media-backup', { s3 })).toEqual([]);
  expect(problemsOf('s3://media/backup', { s3 })).toEqual([
    'BACKUP_TO must name another bucket than STORAGE_URL: the loss of a bucket would cost both',
  ]);
  // A bucket of the same name at another provider.
  expect(problemsOf('s3://media/backup', { s3, backup: { place: 's3://media/backup', s3: OWN } })).toEqual(
    [],
  );
  expect(problemsOf('s3://media-backup', { databaseUrl: 'postgres://db/mediary' })).toEqual([
    'BACKUP_TO must not be set with DATABASE_URL: back it up with the tools of PostgreSQL',
  ]);
});

test('an access key has a secret, and the reverse', () => {
  const together = 'BACKUP_S3_ACCESS_KEY_ID and BACKUP_S3_SECRET_ACCESS_KEY must be set together';
  const half = { ...AMAZON, accessKeyId: 'key' };
  expect(problemsOf(undefined, { backup: { place: undefined, s3: half } })).toEqual([together]);
  const other = { ...AMAZON, secretAccessKey: toSecret('secret') };
  expect(problemsOf('/mnt/b', { backup: { place: '/mnt/b', s3: other } })).toEqual([together]);
});
