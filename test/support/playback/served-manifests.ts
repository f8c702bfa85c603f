// Reads the manifests of a video and the sizes of their files from the service, and checks them.
import { expect } from 'vitest';
import type { TrackState } from './check-media-playlist.ts';
import { checkDash } from './check-dash.ts';
import { checkHls, type HlsFiles } from './check-hls.ts';

const textAt = async (url: string): Promise<string> => {
  const response = await fetch(url);
  expect(response.status, url).toBe(200);
  return response.text();
};

/** Undefined for a file that does not exist. */
async function sizeAt(url: string): Promise<number | undefined> {
  const { ok, headers } = await fetch(url, { method: 'HEAD' });
  return ok ? Number(headers.get('content-length')) : undefined;
}

const entriesOf = (text: string): string[] => [...text.matchAll(/^[^#\n].*$/gm)].map(([line]) => line);

/** Without I-frame playlists. */
export async function readHls(hls: string): Promise<HlsFiles> {
  const multivariant = await textAt(hls);
  const media = [...multivariant.matchAll(/^#EXT-X-MEDIA:.*URI="([^"]+)"/gm)].map(([, uri = '']) => uri);
  const playlists = new Map<string, string>();
  const sizes = new Map<string, number>();
  for (const name of new Set([...entriesOf(multivariant), ...media])) {
    const url = new URL(name, hls);
    const text = await textAt(url.href);
    playlists.set(name, text);
    const [, map] = /^#EXT-X-MAP:URI="([^"]+)"$/m.exec(text) ?? [];
    for (const file of [...(map === undefined ? [] : [map]), ...entriesOf(text)]) {
      const size = await sizeAt(new URL(file, url).href);
      if (size !== undefined) sizes.set(file, size);
    }
  }
  return { multivariant, playlists, sizes };
}

type Served = { readonly hls: string; readonly dash: string };

/** Lists the violations in both manifests, and counts their captions. */
export async function checkServed(
  { hls, dash }: Served,
  state: TrackState = 'complete',
): Promise<{ readonly violations: readonly string[]; readonly captions: number }> {
  const manifest = await textAt(dash);
  // Afterwards, because a growing video then has the files of this manifest and perhaps more.
  const files = await readHls(hls);
  const sizes = new Map(files.sizes);
  const base = new URL(/<BaseURL>([^<]*)<\/BaseURL>/.exec(manifest)?.[1] ?? '', dash);
  const captions = [...manifest.matchAll(/<BaseURL>([^<]*\.vtt[^<]*)<\/BaseURL>/g)];
  for (const [, file = ''] of captions) {
    const size = await sizeAt(new URL(file, base).href);
    if (size !== undefined) sizes.set(file, size);
  }
  for (const [file, size] of await readSprites(manifest, base)) sizes.set(file, size);
  const violations = [...checkHls(files, state), ...checkDash({ manifest, sizes }, state)];
  return { violations, captions: captions.length };
}

/** The pictures of a storyboard, from the first one to the last one that exists. */
async function readSprites(manifest: string, base: URL): Promise<readonly [string, number][]> {
  const [, media] = /media="([^"]+\.jpg)"/.exec(manifest) ?? [];
  const sprites: [string, number][] = [];
  for (let number = 1; media !== undefined; number += 1) {
    const file = media.replace('$Number$', `${number}`);
    const size = await sizeAt(new URL(file, base).href);
    if (size === undefined) break;
    sprites.push([file, size]);
  }
  return sprites;
}
