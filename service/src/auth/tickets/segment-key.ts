// Derives the keys of encrypted segments from the URL signing secrets; no key is stored (contract B5).
import { hkdfSync } from 'node:crypto';
import type { Secret } from '../secret.ts';
import { deriveKey } from '../signed-token.ts';

/** The files that share a key id. A new playback version, as after a revocation, has other keys. */
export type KeyScope = {
  readonly assetId: string;
  /** The folder of the encoding run. */
  readonly folder: string;
  readonly playbackVersion: number;
};

/** AES-128. */
const KEY_BYTES = 16;
const ID_BYTES = 8;

/**
 * Each track has its own key, because the IV of a segment is its number in the track: a pair of key and IV
 * is used once.
 */
export const deriveSegmentKey = (root: Secret, scope: KeyScope, track: number): Buffer =>
  derive(root, `key ${track} ${formatScope(scope)}`, KEY_BYTES);

/** Names the keys in URLs without revealing them. */
export const segmentKeyId = (root: Secret, scope: KeyScope): string =>
  derive(root, `id ${formatScope(scope)}`, ID_BYTES).toString('hex');

/**
 * The secret that a key id belongs to; undefined for unknown ids. A player keeps its key after a rotation,
 * because its URLs contain the id.
 */
export const findKeyRoot = (roots: readonly Secret[], scope: KeyScope, keyId: string): Secret | undefined =>
  roots.find((root) => segmentKeyId(root, scope) === keyId);

const derive = (root: Secret, info: string, bytes: number): Buffer =>
  Buffer.from(hkdfSync('sha256', deriveKey(root, 'segment').key, '', info, bytes));

const formatScope = ({ assetId, folder, playbackVersion }: KeyScope): string =>
  `${assetId} ${folder} ${playbackVersion}`;
