// Tests the playlists of encrypted videos, made from those that the encoder writes.
import { describe, expect, test } from 'vitest';
import { type CmafTrack, segmentName } from '../encoding/packaging/cmaf-track.ts';
import { formatMediaPlaylist, formatMultivariantPlaylist } from '../encoding/packaging/hls-playlist.ts';
import { soundTracks } from '../encoding/packaging/sound-tracks.fixture.ts';
import { encryptMediaPlaylist, encryptMultivariantPlaylist } from './manifest-edits.ts';

const KEY_ID = '0123456789abcdef';
const video = (id: number, height: number): CmafTrack => ({
  id,
  codec: 'avc1.64001f',
  timescale: 1000,
  size: { width: height * 2, height },
  segments: [4000, 2000].map((duration, index) => ({
    name: segmentName(id, index + 1),
    start: index * 4000,
    duration,
    bytes: 500_000,
  })),
});
const tracks = [video(0, 720), video(1, 360), ...soundTracks(2, [{ title: 'a,URI="1-1/' }])];
const multivariant = formatMultivariantPlaylist({
  tracks,
  frameRate: { numerator: 30, denominator: 1 },
  childFolder: '1-1',
});
const I_FRAMES = '#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="1-1/r0-iframes.m3u8"\n';

describe('the multivariant playlist', () => {
  const encrypted = encryptMultivariantPlaylist(`${multivariant}${I_FRAMES}`, '1-1', KEY_ID);

  test('names every media playlist in the folder of the key', () => {
    const names = [...encrypted.matchAll(/^[^#\n].*$|(?<=,URI=")[^"]+(?="$)/gm)].map(([name]) => name);
    expect(names.toSorted()).toEqual(['r0', 'r1', 'r2'].map((name) => `1-1/${KEY_ID}/${name}.m3u8`));
  });

  test('names no I-frame playlists', () => {
    expect(encrypted).not.toContain('I-FRAME');
    expect(encrypted).not.toContain('r0-iframes');
  });

  test('has room for the padding of segments, and is otherwise unchanged', () => {
    const rates = (text: string) => [...text.matchAll(/:BANDWIDTH=(\d+)/g)].map(([, rate]) => Number(rate));
    expect(rates(encrypted)).toEqual(rates(multivariant).map((rate) => rate + 4000));
    const rest = (text: string) => text.replaceAll(`${KEY_ID}/`, '').replaceAll(/:BANDWIDTH=\d+/g, '');
    expect(rest(encrypted)).toBe(rest(multivariant));
  });
});

describe('a media playlist', () => {
  test.each(['complete', 'growing'] as const)('has one key behind the init segment: %s', (state) => {
    const plain = formatMediaPlaylist(video(0, 720), state);
    const lines = encryptMediaPlaylist(plain, 'r0.key').split('\n');
    const at = (start: string) => lines.findIndex((line) => line.startsWith(start));
    expect(lines[at('#EXT-X-KEY')]).toBe('#EXT-X-KEY:METHOD=AES-128,URI="r0.key"');
    expect(lines[at('#EXT-X-MEDIA-SEQUENCE')]).toBe('#EXT-X-MEDIA-SEQUENCE:1');
    expect(at('#EXT-X-MEDIA-SEQUENCE')).toBeLessThan(at('#EXTINF'));
    expect([at('#EXT-X-MAP') + 1, at('#EXT-X-KEY') + 1]).toEqual([at('#EXT-X-KEY'), at('#EXTINF')]);
    const rest = lines.filter((line) => !/^#EXT-X-(?:KEY|MEDIA-SEQUENCE)/.test(line));
    expect(rest.join('\n')).toBe(plain);
  });

  test('numbers its segments as their names do', () => {
    const { segments, ...track } = video(0, 720);
    const later = { ...track, segments: segments.slice(1) };
    expect(encryptMediaPlaylist(formatMediaPlaylist(later), 'r0.key')).toContain('#EXT-X-MEDIA-SEQUENCE:2');
  });

  test('without numbered segments is an error', () => {
    expect(() => encryptMediaPlaylist('#EXTM3U\n#EXT-X-MAP:URI="a.mp4"\n', 'r0.key')).toThrow('no numbered');
  });
});
