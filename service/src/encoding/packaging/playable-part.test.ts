// Tests the manifests of renditions that still grow, with the parsers of common players.
import { Parser } from 'm3u8-parser';
import { parse as parseMpd } from 'mpd-parser';
import { describe, expect, test } from 'vitest';
import { type CmafTrack, segmentName } from '../model/cmaf-track.ts';
import { formatPlayablePart } from './playable-part.ts';

const TIMESCALE = 15360;
const track = (id: number, size: CmafTrack['size'], count: number): CmafTrack => ({
  id,
  timescale: TIMESCALE,
  codec: size ? 'avc1.64001f' : 'mp4a.40.2',
  size,
  targetSeconds: 6,
  segments: Array.from({ length: count }, (_, at) => ({
    name: segmentName(id, at + 1),
    start: at * 4 * TIMESCALE,
    duration: 4 * TIMESCALE,
    bytes: 100_000,
  })),
});

const partOf = (count: number, state: 'growing' | 'complete') =>
  new Map(
    formatPlayablePart({
      tracks: [track(3, { width: 640, height: 360 }, count), track(4, null, count)],
      state,
      frameRate: { numerator: 30, denominator: 1 },
      childFolder: '1-1',
      startedAt: new Date('2026-03-01T00:00:00Z'),
      publishedAt: new Date(`2026-03-01T00:00:0${count % 10}Z`),
      durationSeconds: 40,
    }).map(({ name, text }) => [name, text]),
  );

function parseHls(text = '') {
  const parser = new Parser();
  parser.push(text);
  parser.end();
  return parser.manifest;
}

describe('the manifests of a part', () => {
  test('in HLS start at the beginning, and end only when they are complete', () => {
    const growing = parseHls(partOf(2, 'growing').get('r3.m3u8'));
    expect(growing).toMatchObject({ playlistType: 'EVENT', targetDuration: 6, start: { timeOffset: 0.001 } });
    expect(growing.endList).toBeFalsy();
    expect(growing.segments).toHaveLength(2);
    const complete = parseHls(partOf(10, 'complete').get('r3.m3u8'));
    expect(complete).toMatchObject({ playlistType: 'VOD', targetDuration: 6, endList: true });
  });
  test('in HLS only grow at their end', () => {
    const lines = (count: number) => partOf(count, 'growing').get('r4.m3u8')?.trimEnd().split('\n') ?? [];
    expect(lines(5).slice(0, lines(3).length)).toEqual(lines(3));
  });
  test('in DASH are read again from the manifest whose representations never change', () => {
    const part = partOf(2, 'growing');
    expect(part.get('dash.mpd')).toContain('<Location>early-1-1.mpd</Location>');
    expect(part.get('early.mpd')).toBe(part.get('dash.mpd'));
    for (const name of ['dash.mpd', 'early.mpd']) {
      const manifest = parseMpd(part.get(name) ?? '', { manifestUri: `https://v.example/a/${name}` });
      expect(manifest).toMatchObject({ minimumUpdatePeriod: 2000, duration: 40 });
      expect(manifest.playlists[0]?.segments).toHaveLength(2);
    }
    const complete = partOf(10, 'complete');
    for (const name of ['dash.mpd', 'early.mpd'])
      expect(parseMpd(complete.get(name) ?? '', { manifestUri: 'https://v.example/a/' })).toMatchObject({
        endList: true,
        duration: 40,
      });
  });
  test('in DASH have one clock for all versions', () => {
    const clock = (count: number) =>
      /availabilityStartTime="[^"]+"/.exec(partOf(count, 'growing').get('dash.mpd') ?? '')?.[0];
    expect(clock(2)).toBe(clock(9));
  });
});
