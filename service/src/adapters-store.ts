// Opens the object store and the backup target of the settings, each a folder or a bucket.
import { resolve } from 'node:path';
import { isBucketPlace, parseBucketPlace } from './commands/backup/settings.ts';
import type { Config } from './config.ts';
import { storeFolder } from './open-decoders.ts';
import { restrictFolders } from './platform/disk/data-folder.ts';
import type { Logger } from './platform/observability/logger.ts';
import type { BackupTarget } from './storage/backup-target.ts';
import { openFolderBackupTarget } from './storage/backup/folder-backup-target.ts';
import { openDiskObjectStore } from './storage/disk-object-store.ts';
import type { ObjectStore } from './storage/object-store.ts';

export type OpenStore = {
  readonly store: ObjectStore;
  /** Folder or bucket, for people. */
  readonly location: string;
  readonly close: () => void;
};

/** Loads the S3 client only where it is used, because that takes as long as the rest of the start. */
export async function openStore(config: Config): Promise<OpenStore> {
  if (config.s3) {
    const { openS3ObjectStore } = await import('./storage/s3-object-store.ts');
    const { direct, ...store } = openS3ObjectStore(config.s3, { sources: config.adoptSources });
    return {
      store: { ...store, ...(config.s3.direct && { direct }) },
      location: `s3://${config.s3.bucket}/${config.s3.prefix}`,
      close: store.close,
    };
  }
  const folder = storeFolder(config);
  const { adoptSources: allowed, minFreeBytes, dataDir } = config;
  const sources = allowed.length > 0 ? { allowed, ownFolders: [folder, dataDir] } : undefined;
  const store = await openDiskObjectStore(folder, { minFreeBytes, sources });
  await restrictFolders(folder, ['objects', 'originals', 'incoming', 'partial']);
  return { store, location: folder, close: () => {} };
}

/** A remote store may be back before it is needed, so the start does not wait for it. */
export function warnIfUnavailable({ store, location }: OpenStore, log: Logger): void {
  store.check().catch((error: unknown) => {
    log.warn({ err: error, location }, 'the object store is not available; run npm run storage -- check');
  });
}

/** Throws for a place that is no bucket. Does not connect to one. */
export async function openBackupTarget({ backup }: Config, place: string): Promise<BackupTarget> {
  if (!isBucketPlace(place)) return openFolderBackupTarget(resolve(place));
  const location = parseBucketPlace(place, backup.s3);
  const { accessKeyId, secretAccessKey } = backup.s3;
  const { openS3BackupTarget } = await import('./storage/backup/s3-backup-target.ts');
  const credentials =
    accessKeyId !== undefined && secretAccessKey
      ? { accessKeyId, secretAccessKey: secretAccessKey.reveal() }
      : undefined;
  return openS3BackupTarget({ location, credentials });
}
