// Remembers unfinished uploads in files, so that the same command continues them.
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ResumeStore } from '@mediary/client';
import { readPrivateFile, writePrivateFile } from './settings/private-file.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * One file for each upload, so that commands that run at the same time do not overwrite each other's. The SDK
 * ignores the errors of a store; `onError` gets the first one.
 */
export function openResumeFolder(env: Environment, onError: (error: Error) => void): ResumeStore {
  const base = env['XDG_STATE_HOME'] || join(env['HOME'] || homedir(), '.local', 'state');
  const toPath = (key: string): string =>
    join(base, 'mediary', 'uploads', `${createHash('sha256').update(key).digest('hex').slice(0, 32)}.json`);
  let isReported = false;
  const report = (error: Error): never => {
    if (!isReported) onError(error);
    isReported = true;
    throw error;
  };
  return {
    getItem: async (key) => (await readPrivateFile(toPath(key)).catch(report)) ?? null,
    // The entry holds an upload URL with its ticket.
    setItem: (key, value) => writePrivateFile(toPath(key), value).catch(report),
    removeItem: (key) => rm(toPath(key), { force: true }).catch(report),
  };
}
