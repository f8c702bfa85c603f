// Builds files that differ from their stored form: manifests with captions, the playlist of each language,
// and playlists of encrypted segments.
import type { PlaybackAsset } from '../assets/asset.ts';
import { playbackNotFound } from '../assets/playback-manifest.ts';
import { isEncrypted, type SegmentEncryption } from '../assets/segment-encryption.ts';
import type { Secret } from '../auth/secret.ts';
import {
  addDashCaptions,
  addHlsCaptions,
  findNamedCaption,
  formatCaptionPlaylist,
} from '../captions/manifest-captions.ts';
import type { ObjectKey } from '../storage/object-key.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { readText } from '../storage/whole-objects.ts';
import { currentKeyId, findKeyUri } from './encrypted-files.ts';
import { encryptMediaPlaylist, encryptMultivariantPlaylist } from './encrypted-playlists.ts';

type ComposedNeeds = {
  readonly store: Pick<ObjectStore, 'read' | 'stream'>;
  readonly urlSecrets: readonly Secret[];
  readonly segmentEncryption: SegmentEncryption;
};

type RequestedFile = {
  readonly path: string;
  readonly key: ObjectKey;
  /** The manifest while its run goes on. */
  readonly growing: string | undefined;
};

/** Undefined for files that are served as they are stored. */
export async function composeFile(
  needs: ComposedNeeds,
  asset: PlaybackAsset,
  { path, key, growing }: RequestedFile,
): Promise<string | undefined> {
  if (asset.playback?.kind !== 'own') return undefined;
  const named = findNamedCaption(asset.captions, path);
  if (named)
    return named.extension === 'm3u8' ? formatCaptionPlaylist(named.caption, asset.duration_ms) : undefined;
  const edits = findEdits(needs, asset, path);
  if (edits.length === 0) return undefined;
  const stored = growing ?? (await readManifest(needs.store, key));
  return edits.reduce((text, edit) => edit(text), stored);
}

type Edit = (manifest: string) => string;

function findEdits(needs: ComposedNeeds, asset: PlaybackAsset, path: string): readonly Edit[] {
  const { captions, playback } = asset;
  const keyUri = findKeyUri(path);
  if (keyUri !== undefined) return [(text) => encryptMediaPlaylist(text, keyUri)];
  const edits: Edit[] = [];
  if (path === 'hls.m3u8' && playback?.kind === 'own' && isEncrypted(needs.segmentEncryption, asset)) {
    const { folder } = playback;
    edits.push((text) => encryptMultivariantPlaylist(text, folder, currentKeyId(needs, asset, folder)));
  }
  const addCaptions = findCaptionEdit(path);
  if (captions && addCaptions) edits.push((text) => addCaptions(text, captions));
  return edits;
}

/** Only the manifests that name the captions are edited. */
function findCaptionEdit(path: string): typeof addHlsCaptions | undefined {
  if (path === 'hls.m3u8') return addHlsCaptions;
  return path.endsWith('.mpd') ? addDashCaptions : undefined;
}

async function readManifest(store: ComposedNeeds['store'], key: ObjectKey): Promise<string> {
  const found = await store.read(key);
  if (!found) throw playbackNotFound();
  return found.bytes ? Buffer.from(found.bytes).toString() : readText(store, key);
}
