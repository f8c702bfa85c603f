// Composes what players get of a video with captions: its manifests, and the playlist of each language.
import type { PlayedAsset } from '../assets/asset.ts';
import { playbackNotFound } from '../assets/playback-manifest.ts';
import {
  addDashCaptions,
  addHlsCaptions,
  findNamedCaption,
  formatCaptionPlaylist,
} from '../captions/manifest-captions.ts';
import type { ObjectKey } from '../storage/object-key.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { readText } from '../storage/whole-objects.ts';

type CaptionedNeeds = { readonly store: Pick<ObjectStore, 'read' | 'stream'> };

type RequestedFile = {
  readonly path: string;
  readonly key: ObjectKey;
  /** The manifest while its run goes on. */
  readonly growing: string | undefined;
};

/** Undefined for files that are served as they are stored. */
export async function composeCaptionedFile(
  { store }: CaptionedNeeds,
  { playback, captions, duration_ms: videoMs }: PlayedAsset,
  { path, key, growing }: RequestedFile,
): Promise<string | undefined> {
  if (captions === null || playback?.kind !== 'own') return undefined;
  const named = findNamedCaption(captions, path);
  if (named) return named.extension === 'm3u8' ? formatCaptionPlaylist(named.caption, videoMs) : undefined;
  const addCaptions = findComposition(path);
  return addCaptions?.(growing ?? (await readManifest(store, key)), captions);
}

/** Of the manifests that lie beside the captions. */
function findComposition(path: string): typeof addHlsCaptions | undefined {
  if (path === 'hls.m3u8') return addHlsCaptions;
  return path.endsWith('.mpd') ? addDashCaptions : undefined;
}

async function readManifest(store: CaptionedNeeds['store'], key: ObjectKey): Promise<string> {
  const found = await store.read(key);
  if (!found) throw playbackNotFound();
  return found.bytes ? Buffer.from(found.bytes).toString() : readText(store, key);
}
