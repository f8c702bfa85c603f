// Remembers unfinished uploads in `localStorage`, so that a page after a reload lists them. The SDK keeps
// what continues the bytes; here is what people have to see.
import { type FileIdentity, isSameFile, type UploadItem } from './upload-item.ts';

type RememberedUpload = FileIdentity & {
  readonly bytesSent: number;
  readonly assetId?: string | undefined;
  /** Nothing has to be chosen again. */
  readonly isUploaded: boolean;
  readonly versionOf?: string | null;
  readonly savedAt: number;
};

/** The service keeps open uploads for a day (`UPLOAD_TTL_S`). */
const KEPT_MS = 86_400_000;
/** More would not help anybody, and would fill the storage. */
const MOST = 50;

export type UploadMemory = ReturnType<typeof createMemory>;

/** `scope`: service and user. Storage that is blocked or full forgets; the uploads go on. */
export function createMemory(scope: string) {
  const key = `mediary:uploader:${scope}`;
  const read = (): RememberedUpload[] => {
    try {
      const entries: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
      return Array.isArray(entries) ? entries.filter(isRemembered) : [];
    } catch {
      return [];
    }
  };
  const write = (entries: readonly RememberedUpload[]): void => {
    try {
      if (entries.length === 0) localStorage.removeItem(key);
      else localStorage.setItem(key, JSON.stringify(entries.slice(-MOST)));
    } catch {
      // Blocked, or full.
    }
  };
  const others = (file: FileIdentity): RememberedUpload[] =>
    read().filter((entry) => !isSameFile(entry, file));
  return {
    save: (item: UploadItem): void => {
      if (item.controller.signal.aborted) return;
      const { name, size, lastModified, assetId, versionOf } = item;
      const entry = { name, size, lastModified, assetId, versionOf, savedAt: Date.now() };
      const bytesSent = item.progress?.bytesSent ?? item.bytesBefore;
      write([...others(item), { ...entry, bytesSent, isUploaded: item.isUploaded }]);
    },
    remove: (item: UploadItem): void => write(others(item)),
    /** Unfinished uploads that no other tab is sending. */
    list: async (): Promise<RememberedUpload[]> => {
      const held = await listHeldLocks();
      return read().filter((entry) => !held.has(lockName(scope, entry)));
    },
    /** Undefined: another tab sends the file. The result ends the claim. */
    claim: (item: UploadItem): Promise<(() => void) | undefined> => claimLock(lockName(scope, item)),
  };
}

function isRemembered(value: unknown): value is RememberedUpload {
  if (typeof value !== 'object' || value === null) return false;
  const { name, size, lastModified, bytesSent, savedAt } = value as Readonly<Record<string, unknown>>;
  const numbers = [size, lastModified, bytesSent, savedAt];
  if (typeof name !== 'string' || !numbers.every((number) => typeof number === 'number')) return false;
  return Date.now() - Number(savedAt) < KEPT_MS;
}

const lockName = (scope: string, { name, size, lastModified }: FileIdentity): string =>
  JSON.stringify(['mediary-uploader', scope, name, size, lastModified]);

/** Missing on pages without https, refused in some frames: then tabs do not know of each other. */
const findLocks = (): LockManager | undefined => (navigator as { readonly locks?: LockManager }).locks;

async function listHeldLocks(): Promise<Set<string | undefined>> {
  const snapshot = await findLocks()
    ?.query()
    .catch(() => undefined);
  return new Set(snapshot?.held?.map(({ name }) => name));
}

function claimLock(name: string): Promise<(() => void) | undefined> {
  const locks = findLocks();
  if (!locks) return Promise.resolve(() => {});
  return new Promise((resolve) => {
    const hold = (lock: Lock | null): Promise<void> | undefined => {
      if (lock) return new Promise<void>((release) => resolve(release));
      resolve(undefined);
      return undefined;
    };
    locks.request(name, { ifAvailable: true }, hold).catch(() => resolve(() => {}));
  });
}
