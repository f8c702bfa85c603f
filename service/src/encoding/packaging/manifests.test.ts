// Tests the manifests of growing and of encrypted videos, as parsers of common players read them.
import { Parser } from 'm3u8-parser';
import { parse as parseMpd } from 'mpd-parser';
import { describe, expect, test } from 'vitest';
import type { Caption } from '../../assets/asset.ts';
import { type CmafTrack, segmentName } from '../model/cmaf-track.ts';
import { isEnding, type ManifestRequest, renderManifest } from './manifests.ts';
import { formatIndex, parseIndex, type RunIndex } from './run-index.ts';
import { soundTracks } from './tracks.fixture.ts';

const TIMESCALE = 15360;
const picture = (id: number, height: number, count: number): CmafTrack => ({
  id,
  timescale: TIMESCALE,
  codec: 'avc1.64001f',
  size: { width: height * 2, height },
  targetSeconds: 6,
  segments: Array.from({ length: count }, (_, at) => ({
    name: segmentName(id, at + 1),
    start: at * 4 * TIMESCALE,
    duration: 4 * TIMESCALE,
    bytes: 100_000,
    keyFrame: { start: 76, length: 900 + at },
  })),
});
const [sound] = soundTracks(4, [{ title: 'a,URI="1-1/' }]);
if (!sound) throw new Error('no sound');
const frameRate = { numerator: 30, denominator: 1 };

const AWAITED = {
  id: 0,
  codec: 'avc1.64001f',
  size: { width: 1280, height: 720 },
  peakBitrate: 2_800_000,
} as const;
const GROWTH = {
  isComplete: false,
  awaited: [AWAITED],
  startedAt: '2026-03-01T00:00:00.000Z',
  publishedAt: '2026-03-01T00:00:09.000Z',
  durationSeconds: 40,
} as const;

/** The first phase of a video of 40 seconds with this number of segments. */
const partOf = (count: number, isGrowing: boolean): RunIndex => ({
  frameRate,
  tracks: [
    picture(3, 360, count),
    {
      ...sound,
      segments: Array.from({ length: count }, (_, at) => ({
        name: segmentName(4, at + 1),
        start: at * 192_000,
        duration: 192_000,
        bytes: 64_000,
      })),
    },
  ],
  early: [3, 4],
  ...(isGrowing && { growth: { ...GROWTH, publishedAt: `2026-03-01T00:00:0${count % 10}.000Z` } }),
});
/** The first phase has ended; another rendition follows. */
const AWAITING: RunIndex = { ...partOf(10, false), growth: { ...GROWTH, isComplete: true } };
/** The copy of the top rung is replaced by an encode. */
const ENDED: RunIndex = {
  frameRate,
  tracks: [picture(0, 720, 2), picture(5, 720, 2), picture(1, 360, 2), sound],
  early: [0, 4],
  replaced: 0,
};

const render = (index: RunIndex, name: string, more: Partial<ManifestRequest> = {}): string =>
  renderManifest(index, { name, folder: '1-1', captions: [], ...more }) ?? '';

function parseHls(text: string) {
  const parser = new Parser();
  parser.push(text);
  parser.end();
  return parser.manifest;
}
const parseDash = (text: string) => parseMpd(text, { manifestUri: 'https://v.example/a/m.mpd' });

describe('while the run goes on', () => {
  test('HLS starts at the beginning, and ends only when it is complete', () => {
    const growing = parseHls(render(partOf(2, true), 'r3.m3u8'));
    expect(growing).toMatchObject({ playlistType: 'EVENT', targetDuration: 6, start: { timeOffset: 0.001 } });
    expect(growing.endList).toBeFalsy();
    expect(growing.segments).toHaveLength(2);
    const complete = parseHls(render(partOf(10, false), 'r3.m3u8'));
    expect(complete).toMatchObject({ playlistType: 'VOD', targetDuration: 6, endList: true });
  });
  test('HLS of early players ends when each has read the last segment', () => {
    const complete = { ...partOf(10, false), completedAt: '2026-03-01T00:00:20.000Z' };
    expect(parseHls(render(complete, 'r3-early.m3u8', { hidesEnd: true })).endList).toBeFalsy();
    expect(parseHls(render(complete, 'r3-early.m3u8')).endList).toBe(true);
    // Six seconds of the target duration, and two; the clock of a worker may be ahead.
    const at = (seconds: string) => isEnding(complete, new Date(`2026-03-01T00:00:${seconds}Z`));
    expect(['11.9', '12.1', '27.9', '28.1'].map(at)).toEqual([false, true, true, false]);
  });
  test('HLS only grows at its end', () => {
    const lines = (count: number) => render(partOf(count, true), 'r4.m3u8').trimEnd().split('\n');
    expect(lines(5).slice(0, lines(3).length)).toEqual(lines(3));
  });
  test('DASH players are sent to the manifest that keeps their representations', () => {
    const part = partOf(2, true);
    expect(render(part, 'dash.mpd')).toContain('<Location>early-1-1.mpd</Location>');
    expect(render(part, 'early.mpd')).toBe(render(part, 'dash.mpd'));
    expect(parseDash(render(part, 'early.mpd'))).toMatchObject({ minimumUpdatePeriod: 2000, duration: 40 });
    expect(parseDash(render(part, 'early.mpd')).playlists[0]?.segments).toHaveLength(2);
    // The beginning, for players that start behind the last segment.
    expect(render(part, 'dash.mpd')).toContain('suggestedPresentationDelay="PT10.000S"');
    const complete = partOf(10, false);
    for (const name of ['dash.mpd', 'early.mpd'])
      expect(parseDash(render(complete, name))).toMatchObject({ endList: true, duration: 40 });
  });
  test('DASH has one clock for all versions', () => {
    const clock = (count: number) =>
      /availabilityStartTime="[^"]+"/.exec(render(partOf(count, true), 'dash.mpd'))?.[0];
    expect(clock(2)).toBe(clock(9));
  });
  test('I-frame playlists wait for the last segment', () => {
    expect(render(partOf(2, true), 'hls.m3u8')).not.toContain('I-FRAME');
    expect(render(partOf(2, true), 'r3-iframes.m3u8')).toBe('');
    expect(render(partOf(10, false), 'hls.m3u8')).toContain('URI="1-1/r3-iframes.m3u8"');
  });
});

describe('while renditions follow', () => {
  const pathwaysOf = (text: string) =>
    [...text.matchAll(/STREAM-INF:(.*)\n(.*)/g)].map(([, attributes = '', uri]) => [
      /PATHWAY-ID="(\w+)"/.exec(attributes)?.[1],
      uri,
    ]);
  test.each([partOf(2, true), AWAITING])('HLS lists them in a pathway of their own', (index) => {
    const text = render(index, 'hls.m3u8');
    expect(pathwaysOf(text)).toEqual([
      ['early', '1-1/r3-early.m3u8'],
      ['full', '1-1/r0-early.m3u8'],
      ['full', '1-1/r3-early.m3u8'],
    ]);
    expect(text).toContain('STEERING:SERVER-URI="steering-1-1.json",PATHWAY-ID="early"');
    expect(text).toMatch(/BANDWIDTH=2\d{6},CODECS="avc1\.64001f,mp4a\.40\.2",RESOLUTION=1280x720/);
  });
  test('the sound alone is the last variant of each pathway', () => {
    const caption: Caption = {
      language: 'de',
      label: 'German',
      kind: 'subtitles',
      isDefault: false,
      isEmbedded: false,
      fileId: '01234567-89ab-4cde-8f01-23456789abcd',
      sizeBytes: 100,
      endMs: 4000,
      updatedAt: '2026-01-01T00:00:00.000Z',
    };
    const text = render(AWAITING, 'hls.m3u8', { hasAudioVariant: true, captions: [caption] });
    expect(pathwaysOf(text)).toEqual([
      ['early', '1-1/r3-early.m3u8'],
      ['early', '1-1/r4-early.m3u8'],
      ['full', '1-1/r0-early.m3u8'],
      ['full', '1-1/r3-early.m3u8'],
      ['full', '1-1/r4-early.m3u8'],
    ]);
    expect(
      text.match(/CODECS="mp4a\.40\.2",AUDIO="audio",CLOSED-CAPTIONS=NONE,SUBTITLES="subs"/g),
    ).toHaveLength(2);
  });
  test('players stay in the first pathway until the run ends', () => {
    const steering = (index: RunIndex) => JSON.parse(render(index, 'steering.json')) as unknown;
    expect(steering(AWAITING)).toEqual({ VERSION: 1, TTL: 2, 'PATHWAY-PRIORITY': ['early'] });
    expect(steering(ENDED)).toEqual({ VERSION: 1, TTL: 3600, 'PATHWAY-PRIORITY': ['full', 'early'] });
    expect(pathwaysOf(render(ENDED, 'hls.m3u8')).every(([pathway]) => pathway === undefined)).toBe(true);
  });
  test('players without content steering get what plays instead', () => {
    for (const index of [partOf(2, true), AWAITING])
      expect(render(index, 'r0.m3u8')).toBe(render(index, 'r3.m3u8'));
    expect(render(AWAITING, 'r0-iframes.m3u8')).toBe('');
    expect(render(AWAITING, 'r1.m3u8')).toBe('');
  });
  test('DASH players ask again for a manifest that plays to its end', () => {
    expect(parseHls(render(AWAITING, 'r3.m3u8')).endList).toBe(true);
    const dash = render(AWAITING, 'dash.mpd');
    expect(dash).toContain('type="static" mediaPresentationDuration="PT40.000S" minimumUpdatePeriod="PT2S"');
    expect(dash).toContain('<Location>early-1-1.mpd</Location>');
    const events = (seconds: number) =>
      render({ ...AWAITING, growth: { ...GROWTH, isComplete: true, durationSeconds: seconds } }, 'dash.mpd')
        .match(/presentationTime="\d+"/g)
        ?.map((time) => Number(/\d+/.exec(time)?.[0]));
    expect(events(12)).toEqual([0, 5, 10]);
    expect(events(43_200)).toHaveLength(200);
    expect(render(ENDED, 'early.mpd')).not.toMatch(/minimumUpdatePeriod|EventStream/);
  });
});

describe('after the run', () => {
  test('a replaced copy is only for players that started early', () => {
    const ids = (name: string) =>
      parseDash(render(ENDED, name)).playlists.map(({ attributes }) => attributes['NAME']);
    expect(ids('dash.mpd').toSorted()).toEqual(['1', '5']);
    // Beside it, they gain the other renditions.
    expect(ids('early.mpd').toSorted()).toEqual(['0', '1', '5']);
    expect(render(ENDED, 'hls.m3u8')).not.toContain('1-1/r0');
    expect(parseHls(render(ENDED, 'r0.m3u8')).endList).toBe(true);
  });
  test.each(['r9.m3u8', 'r9-iframes.m3u8', 'r4-iframes.m3u8', 'r01.m3u8', 'index.json', 'r0-init.mp4', ''])(
    'there is no manifest %j',
    (name) => expect(renderManifest(ENDED, { name, folder: '1-1', captions: [] })).toBeUndefined(),
  );
});

describe('of an encrypted video', () => {
  const keyId = '0123456789abcdef';
  const [plain, encrypted] = [undefined, keyId].map((id) =>
    render(ENDED, 'hls.m3u8', { keyId: id, hasAudioVariant: true }),
  ) as [string, string];

  test('the multivariant playlist names media playlists in the folder of the key alone', () => {
    const names = [...encrypted.matchAll(/^[^#\n].*$|(?<=,URI=")[^"]+(?="$)/gm)].map(([name]) => name);
    expect([...new Set(names)].toSorted()).toEqual(
      ['r1', 'r4', 'r5'].map((name) => `1-1/${keyId}/${name}.m3u8`),
    );
  });
  test('it has room for the padding of segments, and is otherwise the plain one', () => {
    const rates = (text: string) =>
      [...text.matchAll(/STREAM-INF:BANDWIDTH=(\d+),AVERAGE/g)].map(([, rate]) => Number(rate));
    expect(rates(encrypted)).toEqual(rates(plain).map((rate) => rate + 4000));
    const rest = (text: string) =>
      text.replaceAll(`${keyId}/`, '').replaceAll(/:BANDWIDTH=\d+|^#EXT-X-I-FRAME.*\n/gm, '');
    expect(rest(encrypted)).toBe(rest(plain));
  });
  test.each([true, false])(
    'a media playlist has one key behind the init segment; growing: %j',
    (isGrowing) => {
      const part = partOf(3, isGrowing);
      const lines = render(part, 'r3.m3u8', { keyId }).split('\n');
      const at = (start: string) => lines.findIndex((line) => line.startsWith(start));
      expect(lines[at('#EXT-X-KEY')]).toBe('#EXT-X-KEY:METHOD=AES-128,URI="r3.key"');
      expect(lines[at('#EXT-X-MEDIA-SEQUENCE')]).toBe('#EXT-X-MEDIA-SEQUENCE:1');
      expect(at('#EXT-X-MEDIA-SEQUENCE')).toBeLessThan(at('#EXTINF'));
      expect([at('#EXT-X-MAP') + 1, at('#EXT-X-KEY') + 1]).toEqual([at('#EXT-X-KEY'), at('#EXTINF')]);
      const rest = lines.filter((line) => !/^#EXT-X-(?:KEY|MEDIA-SEQUENCE)/.test(line));
      expect(rest.join('\n')).toBe(render(part, 'r3.m3u8'));
    },
  );
});

test('an index is the same after it was stored', () => {
  for (const index of [partOf(3, true), AWAITING, ENDED])
    expect(parseIndex(formatIndex(index))).toEqual(index);
});
