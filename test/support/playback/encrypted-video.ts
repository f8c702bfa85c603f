// Reads encrypted videos as players do: playlists, keys, and segments that are decrypted (RFC 8216).
import { createDecipheriv } from 'node:crypto';
import { expect } from 'vitest';
import { renditionKey } from '../../../service/src/storage/object-key.ts';
import type { AssetJson } from '../media.ts';
import { type Answer, asUser, call, type TestService } from '../service.ts';

export const OWNER = 'ann';
/** The folder of the first run, in URLs and in the store. */
export const FOLDER = '1-1';

type PlaybackJson = Readonly<Record<string, string | null>>;
type Where = Pick<AssetJson, 'id'>;

export const askPlayback = (at: TestService, { id }: Where, query = ''): Promise<Answer<PlaybackJson>> =>
  call<PlaybackJson>(at, `GET /media/${id}/playback${query}`, { headers: asUser(OWNER) });
export const playbackOf = async (at: TestService, asset: Where): Promise<PlaybackJson> =>
  (await askPlayback(at, asset)).body.data;
/** The URL that the paths of the manifest follow, with a new token where the asset is private. */
export const rootOf = async (at: TestService, asset: Where): Promise<string> =>
  ((await playbackOf(at, asset))['hls'] ?? '').replace('hls.m3u8', '');
export const fixedUrl = ({ url }: TestService, { id }: Where, file: string): string =>
  `${url}/playback/${id}/${file}`;
export const nameOf = (url: string): string => url.slice(url.lastIndexOf('/') + 1);

export async function statusAt(url: string, init: RequestInit = {}): Promise<number> {
  const response = await fetch(url, { redirect: 'manual', ...init });
  await response.body?.cancel();
  return response.status;
}
export const statusesAt = (urls: readonly string[]): Promise<number[]> =>
  Promise.all(urls.map((url) => statusAt(url)));
export async function bytesAt(url: string, init: RequestInit = {}): Promise<Buffer> {
  const response = await fetch(url, init);
  expect(response.status, url).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}
export const textAt = async (url: string, init: RequestInit = {}): Promise<string> =>
  (await bytesAt(url, init)).toString();

/** What the encoder stored. */
export const storedBytes = async ({ adapters }: TestService, { id }: Where, name: string): Promise<Buffer> =>
  Buffer.concat(await adapters.store.stream(renditionKey(id, FOLDER, name)).toArray());

/** A media playlist with URLs as a player resolves them. */
type Track = {
  readonly url: string;
  readonly text: string;
  readonly key: string;
  readonly init: string;
  readonly segments: readonly string[];
  readonly firstSequence: number;
};

export async function readTrack(url: string, init: RequestInit = {}): Promise<Track> {
  const text = await textAt(url, init);
  const resolve = (path = '') => new URL(path, url).href;
  return {
    url,
    text,
    key: resolve(/^#EXT-X-KEY:METHOD=AES-128,URI="([^"]+)"$/m.exec(text)?.[1]),
    init: resolve(/^#EXT-X-MAP:URI="([^"]+)"$/m.exec(text)?.[1]),
    segments: [...text.matchAll(/^[^#\n].*$/gm)].map(([path]) => resolve(path)),
    firstSequence: Number(/^#EXT-X-MEDIA-SEQUENCE:(\d+)$/m.exec(text)?.[1]),
  };
}

/** Paths of the media playlists of pictures and sound. One of sound is a variant, too. */
export const playlistsIn = (multivariant: string): string[] => [
  ...new Set([
    ...[...multivariant.matchAll(/^[^#\n].*$/gm)].map(([path]) => path),
    ...[...multivariant.matchAll(/^#EXT-X-MEDIA:TYPE=AUDIO.*URI="([^"]+)"/gm)].map(([, path = '']) => path),
  ]),
];

export async function tracksOf(at: TestService, asset: Where): Promise<Track[]> {
  const root = await rootOf(at, asset);
  const paths = playlistsIn(await textAt(`${root}hls.m3u8`));
  return Promise.all(paths.map((path) => readTrack(`${root}${path}`)));
}

/** With its first segment. */
export async function firstTrack(
  at: TestService,
  asset: Where,
): Promise<Track & { readonly segment: string }> {
  const [track] = await tracksOf(at, asset);
  const [segment] = track?.segments ?? [];
  if (!track || segment === undefined) throw new Error('the video has no segments');
  return { ...track, segment };
}

export function decryptSegment(ciphertext: Buffer, key: Buffer, sequence: number): Buffer {
  const iv = Buffer.alloc(16);
  iv.writeUInt32BE(sequence, 12);
  const cipher = createDecipheriv('aes-128-cbc', key, iv);
  return Buffer.concat([cipher.update(ciphertext), cipher.final()]);
}
