// Records which objects an unfinished backup has copied, so that the next one need not send them again.
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { CopiedFile } from '@mediary/embedded-postgres/base-backup';
import type { BackupTarget } from '../../storage/backup-target.ts';
import { writeBytes } from './backup-files.ts';

const PROGRESS = 'progress';
/** What a killed process has to send again at most. */
const MAX_UNRECORDED = 500;
const RECORD_EVERY_MS = 60_000;

export type BackupProgress = {
  add(object: CopiedFile): Promise<void>;
  /** Records what was added since the last time. */
  record(): Promise<void>;
};

export function startProgress(target: BackupTarget, name: string): BackupProgress {
  let added: CopiedFile[] = [];
  let recordedMs = performance.now();
  let files = 0;
  const record = async () => {
    const objects = added;
    if (objects.length === 0) return;
    added = [];
    recordedMs = performance.now();
    files += 1;
    const bytes = await promisify(gzip)(JSON.stringify(objects));
    await writeBytes(target, `${PROGRESS}/${name}-${files}.json.gz`, bytes);
  };
  return {
    record,
    async add(object) {
      added.push(object);
      if (added.length >= MAX_UNRECORDED || performance.now() - recordedMs >= RECORD_EVERY_MS) await record();
    },
  };
}

/** The objects that unfinished backups have copied. What cannot be read is copied again. */
export async function readProgress(target: BackupTarget): Promise<CopiedFile[]> {
  const objects: CopiedFile[] = [];
  for await (const { path } of target.list(PROGRESS)) {
    const bytes = await target.read(path);
    const text = bytes && (await promisify(gunzip)(await buffer(bytes)).catch(() => undefined));
    if (text) objects.push(...(JSON.parse(text.toString()) as CopiedFile[]));
  }
  return objects;
}

export async function deleteProgress(target: BackupTarget): Promise<void> {
  const paths: string[] = [];
  for await (const { path } of target.list(PROGRESS)) paths.push(path);
  await target.remove(paths);
}
