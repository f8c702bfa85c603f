// Tests that malformed audio tracks of a report are dropped or completed, and never passed on.
import { expect, test } from 'vitest';
import { parseReportedAudio } from './reported-audio.ts';

const track = {
  language: 'pt-BR',
  name: 'Regie',
  codec: 'aac',
  channels: 6,
  default: true,
  loudness_lufs: -23.1,
  true_peak_dbtp: -1.2,
};
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
