// Tests the settings of videos.
import { expect, test } from 'vitest';
import { createSettings } from '../platform/settings/read-settings.ts';
import { readEncodingSettings } from './settings.ts';

function read(value?: string) {
  const settings = createSettings({ VIDEO_EXTRAS: value });
  return { extras: readEncodingSettings(settings).videoExtras, problems: settings.problems };
}

test('all files are made unless the setting names some or none', () => {
  expect(read()).toEqual({ extras: ['storyboard', 'preview', 'audio', 'mp4'], problems: [] });
  expect(read('mp4, storyboard')).toEqual({ extras: ['storyboard', 'mp4'], problems: [] });
  expect(read('none')).toEqual({ extras: [], problems: [] });
});

test.each(['mp4,gif', 'none,mp4', 'MP4'])('%s is a problem', (value) => {
  expect(read(value).problems).toEqual(['VIDEO_EXTRAS may list storyboard, preview, audio, mp4, or be none']);
});

function readChunk(value?: string) {
  const settings = createSettings({ ENCODE_CHUNK_S: value });
  return { seconds: readEncodingSettings(settings).encodeChunkSeconds, problems: settings.problems };
}

test('chunks are of whole segments, of a minute by default; 0 encodes in one piece', () => {
  expect(readChunk()).toEqual({ seconds: 60, problems: [] });
  expect(readChunk('0')).toEqual({ seconds: 0, problems: [] });
  expect(readChunk('8')).toEqual({ seconds: 8, problems: [] });
  expect(readChunk('30').problems).toEqual(['ENCODE_CHUNK_S must be 0 or a multiple of 4']);
  expect(readChunk('-4').problems).toEqual(['ENCODE_CHUNK_S must be a whole number from 0 to 3600']);
});

function readLoudness(target?: string, peak?: string) {
  const settings = createSettings({ LOUDNESS_TARGET_LUFS: target, LOUDNESS_MAX_PEAK_DBTP: peak });
  return { loudness: readEncodingSettings(settings).loudness, problems: settings.problems };
}

test('sound stays as loud as it is unless there is a target', () => {
  expect(readLoudness()).toEqual({ loudness: undefined, problems: [] });
  expect(readLoudness('-16')).toEqual({ loudness: { lufs: -16, maxPeakDbtp: -1 }, problems: [] });
  expect(readLoudness('-23', '-3').loudness).toEqual({ lufs: -23, maxPeakDbtp: -3 });
});

test.each(['16', '-8', '-14.5', 'off'])('%s is no target', (target) => {
  expect(readLoudness(target).problems).toEqual([
    'LOUDNESS_TARGET_LUFS must be a whole number from -31 to -9',
  ]);
});

test('a peak above full scale is a problem', () => {
  expect(readLoudness('-16', '1').problems).toEqual([
    'LOUDNESS_MAX_PEAK_DBTP must be a whole number from -9 to 0',
  ]);
});

function readPassthrough(value?: string) {
  const settings = createSettings({ AUDIO_PASSTHROUGH: value });
  return { codecs: readEncodingSettings(settings).ladder.audioPassthrough, problems: settings.problems };
}

test('surround sound is kept in the named codecs', () => {
  expect(readPassthrough()).toEqual({ codecs: [], problems: [] });
  expect(readPassthrough('ac3, eac3')).toEqual({ codecs: ['eac3', 'ac3'], problems: [] });
  expect(readPassthrough('dts').problems).toEqual([
    'AUDIO_PASSTHROUGH names "dts", which is not supported. Supported: eac3, ac3',
  ]);
});
