// Renders manifests from the index of their run, and keeps the last ones in memory.
import {
  isEarlyPlaylist,
  isEnding,
  type ManifestRequest,
  renderManifest,
} from '../encoding/packaging/manifests.ts';
import { parseIndex, type RunIndex } from '../encoding/packaging/run-index.ts';
import { versionOf } from '../platform/http/pages/page-script.ts';
import { createLruCache } from '../platform/values/lru-cache.ts';
import type { PlaybackContext } from './context.ts';

type RenderedManifest = {
  readonly bytes: Uint8Array;
  readonly etag: string;
  /** Segments follow, or other renditions, or only the end of the playlist. */
  readonly isGrowing: boolean;
};

export type Manifests = {
  /** Undefined for a manifest that the run does not have. */
  readonly find: (
    assetId: string,
    request: { readonly manifest: ManifestRequest; readonly isGrowing: boolean },
  ) => Promise<RenderedManifest | undefined>;
  /** The index of a run that has ended; undefined where it is not stored. */
  readonly findIndex: (assetId: string, folder: string) => Promise<RunIndex | undefined>;
};

/** Each takes about 200 bytes. */
const MAX_CACHED_SEGMENTS = 200_000;
const MAX_CACHED_BYTES = 32 * 1024 ** 2;
/** The revision of an index in the store, which never changes. */
const STORED = 0;

type LoadedIndex = { readonly index: RunIndex; readonly revision: number };

export function openManifests({ encoding, now }: Pick<PlaybackContext, 'encoding' | 'now'>): Manifests {
  const indexes = createLruCache<string, LoadedIndex>(MAX_CACHED_SEGMENTS);
  const manifests = createLruCache<string, RenderedManifest>(MAX_CACHED_BYTES);

  function keep(key: string, loaded: LoadedIndex): LoadedIndex {
    indexes.set(key, loaded, countSegments(loaded.index));
    return loaded;
  }

  async function loadStored(assetId: string, folder: string): Promise<LoadedIndex | undefined> {
    const key = `${assetId}/${folder}`;
    const cached = indexes.get(key);
    if (cached?.revision === STORED) return cached;
    const index = await encoding.readIndex({ assetId, folder });
    return index && keep(key, { index, revision: STORED });
  }

  /** Many players read the same index again and again, so that its text is read only when it has changed. */
  async function loadGrowing(assetId: string, folder: string): Promise<LoadedIndex | undefined> {
    const key = `${assetId}/${folder}`;
    const cached = indexes.get(key);
    const found = await encoding.findGrowingIndex({ assetId, folder, known: cached?.revision ?? STORED });
    if (!found) return undefined;
    const { revision, body } = found;
    return body === null ? cached : keep(key, { index: parseIndex(body), revision });
  }

  function render(
    assetId: string,
    { index, revision }: LoadedIndex,
    manifest: ManifestRequest,
  ): RenderedManifest | undefined {
    const hidesEnd = isEarlyPlaylist(manifest.name) && isEnding(index, now());
    const key = JSON.stringify([assetId, revision, manifest, hidesEnd]);
    const cached = manifests.get(key);
    if (cached) return cached;
    const text = renderManifest(index, { ...manifest, hidesEnd });
    if (text === undefined) return undefined;
    const isGrowing = hidesEnd || revision !== STORED;
    const rendered = { bytes: Buffer.from(text), etag: versionOf(text), isGrowing };
    manifests.set(key, rendered, rendered.bytes.length + key.length);
    return rendered;
  }

  return {
    async find(assetId, { manifest, isGrowing }) {
      const { folder } = manifest;
      const growing = isGrowing ? await loadGrowing(assetId, folder) : undefined;
      const loaded = growing ?? (await loadStored(assetId, folder));
      return loaded && render(assetId, loaded, manifest);
    },
    findIndex: async (assetId, folder) => (await loadStored(assetId, folder))?.index,
  };
}

const countSegments = ({ tracks }: RunIndex): number =>
  tracks.reduce((total, { segments }) => total + segments.length, 0);
