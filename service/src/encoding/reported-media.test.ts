// Tests that malformed facts of a report are dropped or completed, and never passed on.
import { expect, test } from 'vitest';
import { parseReportedMedia } from './reported-media.ts';

const track = {
  language: 'pt-BR',
  name: 'Regie',
  codec: 'aac',
  channels: 6,
  default: true,
  loudness_lufs: -23.1,
  true_peak_dbtp: -1.2,
  gain_db: 7.1,
};
const parseReportedAudio = (audio: unknown) => parseReportedMedia({ audio });
const parsed = (more: object) => parseReportedAudio([{ ...track, ...more }]).audio?.[0];

test('a track as our encoder reports it', () => {
  expect(parseReportedAudio([track])).toEqual({ audio: [track] });
});
test.each([
  [{ language: 'x"' }, { language: null }],
  [{ language: 7 }, { language: null }],
  [{ channels: 0 }, { channels: null }],
  [{ channels: 1.5 }, { channels: null }],
  [{ default: 'yes' }, { default: false }],
  [{ loudness_lufs: '-23' }, { loudness_lufs: null }],
  [{ true_peak_dbtp: 1e9 }, { true_peak_dbtp: null }],
  [{ gain_db: '7' }, { gain_db: null }],
  [{ name: 'x'.repeat(100) }, { name: 'x'.repeat(64) }],
])('%j is read as %j', (more, expected) => expect(parsed(more)).toEqual({ ...track, ...expected }));
test.each([{ name: '' }, { name: 5 }, { codec: null }, { codec: 'a b' }])('%j is no track', (more) =>
  expect(parsed(more)).toBeUndefined(),
);
test.each([undefined, null, 'aac', {}, [], [null, 7, 'x']])('%j has no audio', (value) =>
  expect(parseReportedAudio(value)).toEqual({}),
);
test('unknown members and tracks beyond the limit are dropped', () => {
  expect(parsed({ other: 1 })).toEqual(track);
  expect(parseReportedAudio(Array.from({ length: 40 }, () => track)).audio).toHaveLength(32);
});

const video = { codec: 'hevc', fps: 29.97, hdr: true, bit_depth: 10 };
test('container, video and placeholder as our encoder reports them', () => {
  const media = { container: 'mov', video, placeholder: 'mQgGDQIniVd/h3h4d3iJh3ePhwiH' };
  expect(parseReportedMedia({ ...media, status: 'ready' })).toEqual(media);
});
test.each([
  [{ fps: 0 }, { fps: null }],
  [{ fps: '25' }, { fps: null }],
  [{ fps: 90_000 }, { fps: null }],
  [{ hdr: 'yes' }, { hdr: false }],
])('video with %j is read with %j', (more, expected) =>
  expect(parseReportedMedia({ video: { ...video, ...more } })).toEqual({ video: { ...video, ...expected } }),
);
test.each([
  { video: 'h264' },
  { video: null },
  { video: { ...video, codec: 'a b' } },
  { video: { ...video, bit_depth: 0 } },
  { container: 5 },
  { container: '<b>' },
  { placeholder: 7 },
  { placeholder: 'no base64!' },
  { placeholder: 'a'.repeat(65) },
])('%j is dropped', (members) => expect(parseReportedMedia(members)).toEqual({}));
