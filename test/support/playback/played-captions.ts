// The captions of a video, by the ways of an HLS player and of a DASH player.
import { Parser } from 'm3u8-parser';
import { parse as parseMpd } from 'mpd-parser';
import { expect } from 'vitest';

export type PlaybackJson = {
  hls: string;
  dash: string;
  captions: { language: string; label: string; url: string }[];
};

type Texts = Record<string, string>;

/** Language → text of its file. */
export async function playedCaptions({ hls, dash }: PlaybackJson): Promise<{ inHls: Texts; inDash: Texts }> {
  return { inHls: await captionsInHls(hls), inDash: await captionsInDash(dash) };
}

async function captionsInHls(hls: string): Promise<Texts> {
  const parser = new Parser();
  parser.push(await readText(hls));
  parser.end();
  const { playlists, mediaGroups } = parser.manifest;
  expect(playlists.map(({ attributes }) => attributes['SUBTITLES'])).toEqual(playlists.map(() => 'subs'));
  const texts: Texts = {};
  for (const { language, uri = '' } of Object.values(mediaGroups['SUBTITLES']?.['subs'] ?? {})) {
    const playlist = new URL(uri, hls).href;
    const [segment = ''] = /^[^#\s].*$/m.exec(await readText(playlist)) ?? [];
    texts[language] = await readText(new URL(segment, playlist).href);
  }
  return texts;
}

async function captionsInDash(dash: string): Promise<Texts> {
  const { mediaGroups } = parseMpd(await readText(dash), { manifestUri: dash });
  const texts: Texts = {};
  for (const { language, playlists } of Object.values(mediaGroups['SUBTITLES']?.['subs'] ?? {}))
    texts[language] = await readText(playlists?.[0]?.resolvedUri ?? '');
  return texts;
}

export async function readText(url: string): Promise<string> {
  const response = await fetch(url);
  expect(response.status, url).toBe(200);
  return response.text();
}
