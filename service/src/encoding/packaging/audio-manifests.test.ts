// Tests how both manifests list several audio tracks, as parsers of players read them.
import { Parser } from 'm3u8-parser';
import { parse } from 'mpd-parser';
import { describe, expect, test } from 'vitest';
import type { CmafTrack } from '../model/cmaf-track.ts';
import { formatDashManifest } from './dash-manifest.ts';
import { formatMultivariantPlaylist } from './hls-playlist.ts';
import { soundTracks } from './tracks.fixture.ts';

const picture = (id: number, width: number, height: number): CmafTrack => ({
  id,
  timescale: 15_360,
  codec: 'avc1.64001f',
  size: { width, height },
  segments: [{ name: `r${id}-00001.m4s`, start: 0, duration: 15_360 * 10, bytes: 1_250_000 }],
});
const pictures = [picture(0, 1920, 1080), picture(1, 1280, 720), picture(2, 640, 360)];
const packaged = (tracks: readonly CmafTrack[]) => ({
  tracks,
  frameRate: { numerator: 25, denominator: 1 },
  childFolder: '1-1',
  captions: [],
});
const english = { language: 'eng', channels: 6 };
const german = { language: 'ger', title: 'Regie <Kommentar>', dispositions: ['comment'] };
const described = { language: 'eng', dispositions: ['visual impaired'] };
const sounds = soundTracks(3, [english, german, described]);

const hls = (tracks: readonly CmafTrack[]) => formatMultivariantPlaylist(packaged(tracks));
function manifestOf(tracks: readonly CmafTrack[]) {
  const parser = new Parser();
  parser.push(hls(tracks));
  parser.end();
  return parser.manifest;
}
const dash = (tracks: readonly CmafTrack[]) => formatDashManifest(packaged(tracks));
const dashAudio = (tracks: readonly CmafTrack[]) =>
  parse(dash(tracks), { manifestUri: 'https://a.example/' }).mediaGroups['AUDIO']?.['audio'] ?? {};

describe('HLS', () => {
  test('lists every track with language and name, and one default', () => {
    const { AUDIO } = manifestOf([...pictures, ...sounds]).mediaGroups;
    expect(AUDIO?.['audio']).toMatchObject({
      English: { default: true, autoselect: true, language: 'en', uri: '1-1/r3.m3u8' },
      'Regie <Kommentar>': { default: false, autoselect: false, language: 'de', uri: '1-1/r4.m3u8' },
      'English 2': {
        default: false,
        autoselect: true,
        characteristics: 'public.accessibility.describes-video',
        uri: '1-1/r5.m3u8',
      },
    });
  });
  test('the group with 5.1 has the same members, and stereo where there is no 5.1', () => {
    const { AUDIO } = manifestOf([...pictures, ...sounds]).mediaGroups;
    expect(Object.keys(AUDIO?.['audio-51'] ?? {})).toEqual(Object.keys(AUDIO?.['audio'] ?? {}));
    expect(AUDIO?.['audio-51']).toMatchObject({
      English: { default: true, uri: '1-1/r6.m3u8' },
      'English 2': { uri: '1-1/r5.m3u8' },
    });
    expect(
      [...hls([...pictures, ...sounds]).matchAll(/GROUP-ID="(\S+?)".*CHANNELS="(\d)"/g)].map(
        ([, group, channels]) => [group, channels],
      ),
    ).toEqual([
      ['audio', '2'],
      ['audio', '2'],
      ['audio', '2'],
      ['audio-51', '6'],
      ['audio-51', '2'],
      ['audio-51', '2'],
    ]);
  });
  test('variants with 5.1 follow all others, for the upper rungs', () => {
    const { playlists } = manifestOf([...pictures, ...sounds]);
    expect(playlists.map(({ uri, attributes }) => [uri, attributes['AUDIO']])).toEqual([
      ['1-1/r1.m3u8', 'audio'],
      ['1-1/r0.m3u8', 'audio'],
      ['1-1/r2.m3u8', 'audio'],
      ['1-1/r1.m3u8', 'audio-51'],
      ['1-1/r0.m3u8', 'audio-51'],
    ]);
    expect(playlists.map(({ attributes }) => attributes['BANDWIDTH'])).toEqual(
      [128_000, 128_000, 128_000, 384_000, 384_000].map((audio) => 1_000_000 + audio),
    );
  });
  test('the sound of the source is a group of its own, behind the others', () => {
    const [stereo, commentary, , encoded] = sounds;
    const copy = {
      ...encoded,
      id: 500,
      codec: 'ec-3',
      audio: { ...encoded?.audio, isCopy: true },
    } as CmafTrack;
    const { playlists, mediaGroups } = manifestOf([...pictures, ...sounds, copy]);
    expect(playlists.slice(5).map(({ uri, attributes }) => [uri, attributes['AUDIO']])).toEqual([
      ['1-1/r1.m3u8', 'audio-ec-3'],
      ['1-1/r0.m3u8', 'audio-ec-3'],
    ]);
    expect(playlists[5]?.attributes['CODECS']).toBe('avc1.64001f,ec-3,mp4a.40.2');
    expect(mediaGroups.AUDIO?.['audio-ec-3']).toMatchObject({
      English: { default: true, uri: '1-1/r500.m3u8' },
      'Regie <Kommentar>': { uri: `1-1/r${commentary?.id}.m3u8` },
    });
    expect(mediaGroups.AUDIO?.['audio']).toMatchObject({ English: { uri: `1-1/r${stereo?.id}.m3u8` } });
    expect(mediaGroups.AUDIO?.['audio-51']).toMatchObject({ English: { uri: '1-1/r6.m3u8' } });
  });
  test('a small picture has 5.1 too', () => {
    const { playlists } = manifestOf([
      picture(0, 640, 360),
      picture(1, 426, 240),
      ...soundTracks(2, [english]),
    ]);
    expect(playlists.map(({ uri, attributes }) => [uri, attributes['AUDIO']])).toEqual([
      ['1-1/r0.m3u8', 'audio'],
      ['1-1/r1.m3u8', 'audio'],
      ['1-1/r0.m3u8', 'audio-51'],
    ]);
  });
});

describe('DASH', () => {
  test('has a set for each track, and stereo of the default has priority', () => {
    const text = dash([...pictures, ...sounds]);
    expect(
      [...text.matchAll(/<AdaptationSet id="(\d)" contentType="(\w+)"/g)].map(([, id, kind]) => [id, kind]),
    ).toEqual([
      ['0', 'video'],
      ['1', 'audio'],
      ['2', 'audio'],
      ['3', 'audio'],
      ['4', 'audio'],
    ]);
    expect(
      [...text.matchAll(/audio_channel_configuration:2011" value="(\d)"/g)].map(([, value]) => value),
    ).toEqual(['2', '2', '2', '6']);
    expect(text.match(/selectionPriority="2"/g)).toHaveLength(1);
  });
  test('parsers find languages, names and the default', () => {
    const groups = dashAudio([...pictures, ...soundTracks(3, [{ language: 'eng' }, german])]);
    expect(Object.values(groups).map(({ language, default: isDefault }) => [language, isDefault])).toEqual([
      ['en', true],
      ['de', false],
    ]);
  });
  test('roles say what a track is for, and names are escaped', () => {
    const text = dash([...pictures, ...sounds]);
    expect([...text.matchAll(/dash:role:2011" value="(\w+)"/g)].map(([, role]) => role)).toEqual([
      'main',
      'commentary',
      'description',
      'main',
    ]);
    expect(text).toContain('<Label>Regie &lt;Kommentar&gt;</Label>');
    expect(text).toContain(
      '<Accessibility schemeIdUri="urn:tva:metadata:cs:AudioPurposeCS:2007" value="1"/>',
    );
  });
});
