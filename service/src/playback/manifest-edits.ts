// Edits manifests when they are served: adds captions, and rewrites HLS playlists for players of an encrypted
// video; the stored ones are those of the plain video (RFC 8216, 4.3.2.4).
import type { PlaybackAsset } from '../assets/asset.ts';
import { isEncrypted, type SegmentEncryption } from '../assets/segment-encryption.ts';
import {
  addDashCaptions,
  addHlsCaptions,
  findNamedCaption,
  formatCaptionPlaylist,
} from '../captions/manifest-captions.ts';
import type { Secret } from '../auth/secret.ts';
import { currentKeyId } from './encrypted-files.ts';

export type Edit = (manifest: string) => string;

type EncryptionRules = {
  readonly segmentEncryption: SegmentEncryption;
  readonly urlSecrets: readonly Secret[];
};

/** The playlist of the captions in one language. */
export function findCaptionPlaylist(asset: PlaybackAsset, path: string): string | undefined {
  if (asset.playback?.kind !== 'own' || !path.endsWith('.m3u8')) return undefined;
  const named = findNamedCaption(asset.captions, path);
  return named && formatCaptionPlaylist(named.caption, asset.duration_ms);
}

/** Only the manifests that name captions or the playlists of encrypted segments are edited. */
export function findEdits(
  asset: PlaybackAsset,
  path: string,
  { segmentEncryption, urlSecrets }: EncryptionRules,
): readonly Edit[] {
  const { captions, playback } = asset;
  if (playback?.kind !== 'own') return [];
  const edits: Edit[] = [];
  if (path === 'hls.m3u8' && isEncrypted(segmentEncryption, asset)) {
    const { folder } = playback;
    const keyId = currentKeyId(urlSecrets, asset, folder);
    edits.push((text) => encryptMultivariantPlaylist(text, folder, keyId));
  }
  if (!captions) return edits;
  if (path === 'hls.m3u8') edits.push((text) => addHlsCaptions(text, captions));
  if (path.endsWith('.mpd')) edits.push((text) => addDashCaptions(text, captions));
  return edits;
}

const I_FRAMES = '#EXT-X-I-FRAME-STREAM-INF:';
/** The padding of a segment of picture and one of sound, also of very short ones. */
const PADDING_BITS_PER_SECOND = 4000;

/**
 * Names the media playlists in the folder of the key, so that no cache mixes them with plain ones. I-frame
 * playlists are left out: their ranges of plain segments are no ranges of encrypted ones.
 */
export function encryptMultivariantPlaylist(playlist: string, folder: string, keyId: string): string {
  const [plain, encrypted] = [`${folder}/`, `${folder}/${keyId}/`];
  const rename = (line: string) =>
    line.startsWith(plain)
      ? `${encrypted}${line.slice(plain.length)}`
      : line
          .replace(`,URI="${plain}`, `,URI="${encrypted}`)
          .replace(/:BANDWIDTH=(\d+)/, (_, bits) => `:BANDWIDTH=${Number(bits) + PADDING_BITS_PER_SECOND}`);
  return playlist
    .split('\n')
    .filter((line) => !line.startsWith(I_FRAMES))
    .map(rename)
    .join('\n');
}

/**
 * The init segment precedes the key, so it is plain: it has no samples, and not every player decrypts it.
 * Media sequence numbers are those in the names, so the IV of a segment follows from its name.
 */
export const encryptMediaPlaylist = (playlist: string, keyUri: string): string =>
  playlist.replace(
    /^#EXT-X-MAP:.*$/m,
    (map) =>
      `#EXT-X-MEDIA-SEQUENCE:${firstSegmentNumber(playlist)}\n${map}\n` +
      `#EXT-X-KEY:METHOD=AES-128,URI="${keyUri}"`,
  );

/** Names end in consecutive numbers. */
function firstSegmentNumber(playlist: string): number {
  const number = /^[^#\n].*-(\d+)\.m4s$/m.exec(playlist)?.[1];
  if (number === undefined) throw new Error('the playlist has no numbered segment');
  return Number(number);
}
