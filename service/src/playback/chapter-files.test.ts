// Tests the files of chapters that players read.
import { expect, test } from 'vitest';
import { chaptersJsonUri, chaptersUrl, chaptersVersion, formatChapters } from './chapter-files.ts';

type Chaptered = Parameters<typeof chaptersUrl>[0];

const VIDEO: Chaptered = {
  playback: { kind: 'own', attempt: 1, folder: '1-1' },
  duration_ms: 3_725_500,
  chapters: [
    { start_ms: 0, title: 'Intro <b> & "more"' },
    { start_ms: 3_661_001, title: 'The\nend' },
    { start_ms: 4_000_000, title: 'After the end' },
  ],
};
const asset = (more: Partial<Chaptered> = {}): Chaptered => ({ ...VIDEO, ...more });

test('WebVTT has a cue for each chapter of the video', () => {
  expect(formatChapters(asset(), 'chapters.vtt')).toBe(
    [
      'WEBVTT',
      '00:00:00.000 --> 01:01:01.001\nIntro &lt;b&gt; &amp; &quot;more&quot;',
      '01:01:01.001 --> 01:02:05.500\nThe end',
      '',
    ].join('\n\n'),
  );
});

test('the JSON of HLS counts in seconds', () => {
  expect(JSON.parse(formatChapters(asset(), 'chapters.json'))).toEqual([
    {
      chapter: 1,
      'start-time': 0,
      duration: 3661.001,
      titles: [{ language: 'und', title: 'Intro <b> & "more"' }],
    },
    {
      chapter: 2,
      'start-time': 3661.001,
      duration: 64.499,
      titles: [{ language: 'und', title: 'The\nend' }],
    },
  ]);
});

test('a video without chapters has an empty file, and no URL', () => {
  for (const chapters of [null, [], [{ start_ms: 4_000_000, title: 'After the end' }]]) {
    expect(formatChapters(asset({ chapters }), 'chapters.vtt')).toBe('WEBVTT\n\n');
    expect([chaptersUrl(asset({ chapters }), ''), chaptersJsonUri(asset({ chapters }))]).toEqual([
      null,
      undefined,
    ]);
  }
});

test('the version changes with chapters and duration, and only videos of the service have URLs', () => {
  const versions = [{}, { duration_ms: 3_725_501 }, { chapters: [] }].map((more) =>
    chaptersVersion(asset(more)),
  );
  expect(new Set(versions).size).toBe(3);
  expect(chaptersUrl(asset(), '/x')).toBe(`/x/chapters.vtt?v=${versions[0]}`);
  expect(chaptersUrl(asset({ playback: null }), '/x')).toBeNull();
});
