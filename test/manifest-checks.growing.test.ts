// Tests that the checks of manifests find violations in captions and in growing videos.
import { describe, expect, test } from 'vitest';
import type { Caption } from '../service/src/assets/asset.ts';
import { captionUrl, formatCaptionPlaylist } from '../service/src/captions/manifest-captions.ts';
import { renderManifest } from '../service/src/encoding/packaging/manifests.ts';
import type { RunIndex } from '../service/src/encoding/packaging/run-index.ts';
import { checkDash, type DashFiles } from './support/playback/check-dash.ts';
import { checkHls, type HlsFiles } from './support/playback/check-hls.ts';
import { dash, edited, hls, index, sizes } from './support/playback/sample-manifests.ts';

const caption: Caption = {
  language: 'en',
  label: 'English',
  kind: 'subtitles',
  isDefault: true,
  isEmbedded: false,
  fileId: '0199a2b4-0000-7000-8000-000000000001',
  sizeBytes: 50,
  endMs: 4000,
  updatedAt: '2026-01-01T00:00:00.000Z',
};
const CAPTIONS = 'captions/en.m3u8';
const render = (of: RunIndex, name: string, captions: readonly Caption[] = []): string =>
  renderManifest(of, { name, folder: '1-1', captions, hasAudioVariant: true }) ?? '';
const withCaptions: HlsFiles & DashFiles = {
  multivariant: render(index, 'hls.m3u8', [caption]),
  playlists: new Map(hls.playlists).set(CAPTIONS, formatCaptionPlaylist(caption, 10_000)),
  manifest: render(index, 'dash.mpd', [caption]),
  sizes: new Map(sizes).set(captionUrl(caption).replace('captions/', ''), 50).set(captionUrl(caption), 50),
};

describe('captions', () => {
  test('have no violations', () =>
    expect([...checkHls(withCaptions), ...checkDash(withCaptions)]).toEqual([]));

  test.each([
    [',SUBTITLES="subs"', '', 'only some have SUBTITLES'],
    [/SUBTITLES="subs"/g, 'SUBTITLES="other"', 'an SUBTITLES group does not exist'],
    [/(TYPE=SUBTITLES.*),URI="[^"]*"/, '$1', 'SUBTITLES without URI'],
  ])('in the multivariant playlist: %s → %j', (from, to, violation) => {
    const multivariant = edited(withCaptions.multivariant, from, to);
    expect(checkHls({ ...withCaptions, multivariant }).join('\n')).toContain(violation);
  });

  test.each([
    ['#EXT-X-PLAYLIST-TYPE:VOD', '#EXT-X-PLAYLIST-TYPE:EVENT', 'not VOD'],
    ['#EXTINF:10.000', '#EXTINF:11.000', 'is longer than the target duration'],
    [/en\.vtt.*/, 'de.vtt', 'de.vtt does not exist'],
    ['#EXTINF', '#EXT-X-MAP:URI="r0-init.mp4"\n#EXTINF', 'WebVTT has no EXT-X-MAP'],
  ])('in their playlist: %s → %j', (from, to, violation) => {
    const text = edited(withCaptions.playlists.get(CAPTIONS) ?? '', from, to);
    const playlists = new Map(withCaptions.playlists).set(CAPTIONS, text);
    expect(checkHls({ ...withCaptions, playlists }).join('\n')).toContain(violation);
  });

  test.each([
    ['text/vtt', 'text/plain', 'not WebVTT'],
    [' lang="en"', '', 'no lang'],
    [/<Role[^>]*subtitle[^>]*>\s*<Role[^>]*>/, '', 'no Role'],
    [/<BaseURL>captions[^<]*<\/BaseURL>/, '', 'not one file'],
    ['<BaseURL>captions', '<BaseURL>../captions', 'does not exist'],
  ])('in the DASH manifest: %s → %j', (from, to, violation) => {
    const manifest = edited(withCaptions.manifest, from, to);
    expect(checkDash({ ...withCaptions, manifest }).join('\n')).toContain(violation);
  });
});

describe('a growing video', () => {
  const part: RunIndex = {
    ...index,
    tracks: index.tracks.filter(({ id }) => id === 1 || id === 2),
    growth: {
      isComplete: false,
      awaited: [{ id: 0, codec: 'avc1.64001f', size: { width: 1280, height: 720 }, peakBitrate: 2_800_000 }],
      startedAt: new Date(1_000_000).toISOString(),
      publishedAt: new Date(1_005_000).toISOString(),
      durationSeconds: 60,
    },
  };
  const growing: HlsFiles & DashFiles = {
    multivariant: render(part, 'hls.m3u8'),
    manifest: render(part, 'dash.mpd'),
    playlists: new Map([0, 1, 2].map((id) => [`1-1/r${id}-early.m3u8`, render(part, `r${id}-early.m3u8`)])),
    sizes,
  };

  test('has no violations', () => {
    expect([...checkHls(growing, 'growing'), ...checkDash(growing, 'growing')]).toEqual([]);
  });

  test('does not pass as a complete one, nor a complete one as growing', () => {
    expect(checkHls(growing).join('\n')).toMatch(
      /r1-early\.m3u8: not VOD\n.*r1-early\.m3u8: no EXT-X-ENDLIST/,
    );
    expect(checkHls(hls, 'growing').join('\n')).toContain('r1.m3u8: not EVENT');
    expect(checkDash(growing).join('\n')).toMatch(/not static[\s\S]*ends before the presentation/);
    expect(checkDash(dash, 'growing').join('\n')).toContain('MPD: not dynamic');
  });

  test.each([
    [/#EXT-X-CONTENT-STEERING.*\n/, '', 'no content steering'],
    [/SERVER-URI="[^"]*"/, 'SERVER-URI=""', 'no SERVER-URI'],
    [/(STEERING:.*)PATHWAY-ID="early"/, '$1PATHWAY-ID="other"', 'its pathway has no variants'],
    [/(STREAM-INF:.*),PATHWAY-ID="full"/, '$1', 'a variant has none'],
  ])('in its multivariant playlist: %s → %j', (from, to, violation) => {
    const multivariant = edited(growing.multivariant, from, to);
    expect(checkHls({ ...growing, multivariant }, 'growing').join('\n')).toContain(violation);
  });

  test('has no end in its playlists', () => {
    const text = `${growing.playlists.get('1-1/r1-early.m3u8')}#EXT-X-ENDLIST\n`;
    const playlists = new Map(growing.playlists).set('1-1/r1-early.m3u8', text);
    expect(checkHls({ ...growing, playlists }, 'growing').join('\n')).toContain('although it grows');
  });

  test.each([
    [/ availabilityStartTime="[^"]*"/, '', 'no availabilityStartTime'],
    [/ publishTime="[^"]*"/, '', 'no publishTime'],
    [/publishTime="[^"]*"/, 'publishTime="1960-01-01T00:00:00Z"', 'available after it was published'],
    [/ minimumUpdatePeriod="[^"]*"/, '', 'no minimumUpdatePeriod'],
    [/<UTCTiming[^>]*>/, '', 'no UTCTiming'],
  ])('in the DASH manifest: %s → %j', (from, to, violation) => {
    const manifest = edited(growing.manifest, from, to);
    expect(checkDash({ ...growing, manifest }, 'growing').join('\n')).toContain(violation);
  });
});
