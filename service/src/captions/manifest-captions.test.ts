// Tests that manifests with captions are what players of HLS and DASH understand.
import { Parser } from 'm3u8-parser';
import { parse as parseMpd } from 'mpd-parser';
import { describe, expect, test } from 'vitest';
import type { Caption } from '../assets/asset.ts';
import {
  captionUrl,
  findNamedCaption,
  formatCaptionPlaylist,
  formatCaptionSets,
  formatSubtitleMedia,
  SUBTITLE_GROUP,
} from './manifest-captions.ts';

const caption = (language: string, overrides: Partial<Caption> = {}): Caption => ({
  language,
  label: language,
  kind: 'subtitles',
  isDefault: false,
  isEmbedded: false,
  fileId: '01234567-89ab-4cde-8f01-23456789abcd',
  sizeBytes: 100,
  endMs: 4000,
  updatedAt: '2026-01-01T00:00:00.000Z',
  ...overrides,
});
const ENGLISH = caption('en', { label: 'English', isDefault: true });
const GERMAN = caption('de', { label: 'Deutsch "D" & <Co>', kind: 'captions' });

/** Within the least around them. */
const hlsOf = (captions: readonly Caption[]): string =>
  [
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    ...formatSubtitleMedia(captions),
    `#EXT-X-STREAM-INF:BANDWIDTH=100,CODECS="avc1.4d401f",RESOLUTION=640x360,SUBTITLES="${SUBTITLE_GROUP}"`,
    '1-1/r0.m3u8',
    '',
  ].join('\n');
const dashOf = (captions: readonly Caption[]): string => `<?xml version="1.0" encoding="utf-8"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011"
  type="static" mediaPresentationDuration="PT4.000S" minBufferTime="PT4S">
  <BaseURL>1-1/</BaseURL>
  <Period id="0" start="PT0S">
${formatCaptionSets(captions).join('\n')}
  </Period>
</MPD>
`;

describe('HLS', () => {
  const playlist = hlsOf([ENGLISH, GERMAN]);

  function parseHls(text: string) {
    const parser = new Parser();
    parser.push(text);
    parser.end();
    return parser.manifest;
  }

  test('the group has one rendition for each language', () => {
    const { playlists, mediaGroups } = parseHls(playlist);
    expect(playlists.map(({ attributes }) => attributes['SUBTITLES'])).toEqual(['subs']);
    expect(mediaGroups['SUBTITLES']?.['subs']).toMatchObject({
      English: { default: true, autoselect: true, forced: false, language: 'en', uri: 'captions/en.m3u8' },
      "Deutsch 'D' & <Co>": {
        default: false,
        language: 'de',
        uri: 'captions/de.m3u8',
        characteristics:
          'public.accessibility.transcribes-spoken-dialog,public.accessibility.describes-music-and-sound',
      },
    });
  });

  test('names differ within the group', () => {
    const same = hlsOf([caption('en', { label: 'Text' }), caption('de', { label: 'Text' })]);
    expect([...same.matchAll(/NAME="(Text[^"]*)"/g)].map(([, name]) => name)).toEqual(['Text', 'Text (de)']);
  });

  test.each([
    ['the video', 10_500, '11\n#EXTINF:10.500'],
    ['the last cue where that is longer', 3000, '4\n#EXTINF:4.000'],
    ['the last cue while the video is not known', null, '4\n#EXTINF:4.000'],
  ])('the playlist of a language has one segment as long as %s', (_what, videoMs, durations) => {
    const text = formatCaptionPlaylist(ENGLISH, videoMs);
    expect(text).toContain(`#EXT-X-TARGETDURATION:${durations},\nen.vtt?v=23456789abcd\n#EXT-X-ENDLIST\n`);
    expect(parseHls(text)).toMatchObject({ endList: true, segments: [{ uri: 'en.vtt?v=23456789abcd' }] });
  });
});

describe('DASH', () => {
  test('there is a text adaptation set for each language', () => {
    const { mediaGroups } = parseMpd(dashOf([ENGLISH, GERMAN]), {
      manifestUri: 'https://media.example.com/playback/1/~token/dash.mpd',
    });
    const group = mediaGroups['SUBTITLES']?.['subs'] ?? {};
    expect(Object.keys(group)).toHaveLength(2);
    expect(group['English']?.playlists?.[0]?.resolvedUri).toBe(
      `https://media.example.com/playback/1/~token/1-1/${captionUrl(ENGLISH)}`,
    );
  });

  test('labels are escaped, and roles tell kind and default', () => {
    const manifest = dashOf([ENGLISH, GERMAN]);
    expect(manifest).toContain('<Label>Deutsch &quot;D&quot; &amp; &lt;Co&gt;</Label>');
    expect(manifest.match(/<Role .*value="\w+"/g)?.map((role) => /value="(\w+)"/.exec(role)?.[1])).toEqual([
      'subtitle',
      'main',
      'caption',
    ]);
  });

  test('no path goes up, which ffmpeg does not resolve', () => {
    const manifest = dashOf([ENGLISH]);
    expect(manifest).toContain('<BaseURL>captions/en.vtt?v=');
    expect(manifest).not.toContain('..');
  });
});

test('a path names the captions of one language, and nothing else', () => {
  const captions = [ENGLISH, GERMAN];
  expect(findNamedCaption(captions, 'captions/de.vtt')).toEqual({ caption: GERMAN, extension: 'vtt' });
  expect(findNamedCaption(captions, 'captions/en.m3u8')).toEqual({ caption: ENGLISH, extension: 'm3u8' });
  expect(findNamedCaption(captions, '2-1/captions/de.vtt')).toEqual({ caption: GERMAN, extension: 'vtt' });
  for (const path of [
    'captions/fr.vtt',
    'captions/en',
    'a/captions/en.vtt',
    '1-1/1-1/captions/en.vtt',
    'captions/../en.vtt',
    'en.vtt',
    'captions/EN.vtt',
    '',
  ])
    expect(findNamedCaption(captions, path), path).toBeUndefined();
  expect(findNamedCaption(null, 'captions/en.vtt')).toBeUndefined();
});
