// Remembers unfinished uploads, so that the next upload of the same file continues them.
import type { UploadTarget } from '../api/uploads.ts';

/**
 * Where unfinished uploads are remembered: `localStorage` fits, and so does a file. Errors of a store are
 * ignored: the upload goes on, but it cannot continue after an interruption.
 */
export type ResumeStore = {
  getItem(key: string): string | null | Promise<string | null>;
  setItem(key: string, value: string): void | Promise<void>;
  removeItem(key: string): void | Promise<void>;
};

/** `reference`: URL or id of the upload at the target. */
export type UnfinishedUpload = {
  readonly assetId: string;
  readonly target: UploadTarget;
  readonly reference?: string | undefined;
};

/** One entry of the store. */
export type ResumeEntry = {
  /** Whether an upload in this process uses the entry, so that another one must not. */
  readonly find: () => Promise<UnfinishedUpload | undefined>;
  readonly save: (upload: UnfinishedUpload) => Promise<void>;
  readonly remove: () => Promise<void>;
  readonly release: () => void;
};

const PREFIX = 'mediary:upload:';
const memory = new Map<string, string>();
export const createMemoryStore = (entries = new Map<string, string>()): ResumeStore => ({
  getItem: (key) => entries.get(key) ?? null,
  setItem: (key, value) => {
    entries.set(key, value);
  },
  removeItem: (key) => {
    entries.delete(key);
  },
});
const memoryStore = createMemoryStore(memory);

/** Memory takes what `localStorage` does not: it can be full, blocked, or missing in a web view. */
const browserStore: ResumeStore = {
  getItem: (key) => memory.get(key) ?? globalThis.localStorage.getItem(key),
  setItem: (key, value) => {
    memory.delete(key);
    try {
      globalThis.localStorage.setItem(key, value);
    } catch {
      memory.set(key, value);
    }
  },
  removeItem: (key) => {
    memory.delete(key);
    globalThis.localStorage.removeItem(key);
  },
};

/** `localStorage` of Node is not used: it warns, or fails without a file. */
export function findDefaultStore(): ResumeStore {
  const { document } = globalThis as { readonly document?: unknown };
  return document === undefined ? memoryStore : browserStore;
}

const inUse = new Set<string>();

const NOTHING: ResumeEntry = {
  find: async () => undefined,
  save: async () => {},
  remove: async () => {},
  release: () => {},
};

/** Two uploads of one file at the same time are two uploads: only the first one gets the entry. */
export function openResumeEntry(store: ResumeStore, fingerprint: string | undefined): ResumeEntry {
  if (fingerprint === undefined) return NOTHING;
  const key = PREFIX + fingerprint;
  if (inUse.has(key)) return NOTHING;
  inUse.add(key);
  let last: Promise<unknown> = Promise.resolve();
  // One after the other, so that a slow save does not undo the removal. An upload must not fail because it
  // cannot be remembered.
  const access = <T>(run: () => T | Promise<T>): Promise<T | undefined> => {
    const result = last.then(run).catch(() => undefined);
    last = result;
    return result;
  };
  return {
    find: async () => parseEntry(await access(() => store.getItem(key))),
    save: (upload) => access(() => store.setItem(key, JSON.stringify(upload))),
    remove: () => access(() => store.removeItem(key)),
    release: () => inUse.delete(key),
  };
}

function parseEntry(text: string | null | undefined): UnfinishedUpload | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // Written by another program; it is replaced.
    return undefined;
  }
}
