// Opens the source that `--from` names.
import type { Environment } from '../context.ts';
import { usageError } from '../exit-codes.ts';
import { openBucketSource } from './bucket/bucket-source.ts';
import { openFolderSource } from './folder/folder-source.ts';
import type { MigrationSource, SourceName } from './source.ts';
import { openCdnhostSource } from './sources/cdnhost-source.ts';
import { openEdgehostSource } from './sources/edgehost-source.ts';
import { openMuxSource } from './sources/mux-source.ts';

type SourceOptions = {
  readonly from: SourceName;
  readonly bucket: string | undefined;
  readonly folder: string | undefined;
  readonly env: Environment;
  readonly signal: AbortSignal;
};

export function openSource({ from, bucket, folder, env, signal }: SourceOptions): MigrationSource {
  if (from !== 'bucket' && bucket !== undefined) throw usageError('--bucket is for --from bucket.');
  if (from !== 'folder' && folder !== undefined) throw usageError('--folder is for --from folder.');
  switch (from) {
    case 'cdnhost':
      return openCdnhostSource(env, signal);
    case 'edgehost':
      return openEdgehostSource(env, signal);
    case 'mux':
      return openMuxSource(env, signal);
    case 'bucket':
      if (bucket !== undefined) return openBucketSource(env, signal, bucket);
      throw usageError('Name the bucket.', '--bucket "s3://<bucket>?region=<region>"');
    case 'folder':
      if (folder !== undefined) return openFolderSource(folder);
      throw usageError('Name the folder.', '--folder <path>');
  }
}
