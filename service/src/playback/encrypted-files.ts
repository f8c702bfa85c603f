// Finds the files that players of an encrypted video request, in the folder of their key (contract B5).
import type { PlaybackAsset } from '../assets/asset.ts';
import { playbackNotFound } from '../assets/playback-manifest.ts';
import { roleOfRun } from '../assets/previous-version.ts';
import type { Secret } from '../auth/secret.ts';
import { deriveSegmentKey, findKeyRoot, type KeyScope, segmentKeyId } from '../auth/tickets/segment-key.ts';
import { type ObjectKey, renditionKey } from '../storage/object-key.ts';
import { type SegmentCipher, toSequenceIv } from '../storage/segment-cipher.ts';

/** A response to a player of an encrypted video. */
export type EncryptedFile =
  | { readonly kind: 'key'; readonly bytes: Uint8Array }
  | { readonly kind: 'playlist'; readonly name: string; readonly keyId: string }
  | { readonly kind: 'init'; readonly key: ObjectKey }
  | { readonly kind: 'segment'; readonly key: ObjectKey; readonly cipher: SegmentCipher };

/** `<folder>/<key id>/<file>` */
const PATH =
  /^(\d+-\d+)\/([0-9a-f]{16})\/(r(\d{1,4})(?:(?:-early)?\.m3u8|\.key|-init\.mp4|-(\d{5,10})\.m4s))$/;

/**
 * Undefined for other paths. Does not depend on the setting, so that players that have started play on after
 * it is turned off.
 */
export function findEncryptedFile(
  urlSecrets: readonly Secret[],
  asset: PlaybackAsset,
  path: string,
): EncryptedFile | undefined {
  const [, folder, keyId = '', file = '', track, number] = PATH.exec(path) ?? [];
  if (folder === undefined) return undefined;
  const role = roleOfRun(asset, folder);
  if (!role || (role === 'previous' && file.endsWith('.m3u8'))) throw playbackNotFound();
  const scope = toKeyScope(asset, folder);
  const root = findKeyRoot(urlSecrets, scope, keyId);
  if (!root) throw playbackNotFound();
  const bytes = () => deriveSegmentKey(root, scope, Number(track));
  if (file.endsWith('.key')) return { kind: 'key', bytes: bytes() };
  if (file.endsWith('.m3u8')) return { kind: 'playlist', name: file, keyId };
  const key = renditionKey(asset.id, folder, file);
  if (number === undefined) return { kind: 'init', key };
  return { kind: 'segment', key, cipher: { key: bytes(), iv: toSequenceIv(Number(number)) } };
}

/** The key that players get from now on. */
export const currentKeyId = (urlSecrets: readonly Secret[], asset: PlaybackAsset, folder: string): string =>
  segmentKeyId(urlSecrets[0] as Secret, toKeyScope(asset, folder));

const toKeyScope = ({ id, playback_version }: PlaybackAsset, folder: string): KeyScope => ({
  assetId: id,
  folder,
  playbackVersion: playback_version,
});
