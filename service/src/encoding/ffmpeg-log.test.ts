// Tests that excerpts of ffmpeg logs contain errors, and no metadata of the file.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ffmpegPath } from '../../../test/support/clips/clips.ts';
import { CANARIES, damagedTaggedClip } from '../../../test/support/clips/tagged-clip.ts';
import { excerptFfmpegLog } from './ffmpeg-log.ts';

const run = promisify(execFile);

describe('the log of a damaged file with many tags', () => {
  let folder: string;
  let log: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mediary-log-'));
    const source = join(folder, 'planted-name.mp4');
    await writeFile(source, await damagedTaggedClip());
    const args = ['-hide_banner', '-nostdin', '-v', 'verbose', '-i', source, '-f', 'null', '-'];
    log = await run(ffmpegPath(), args, { maxBuffer: 2 ** 26 }).then(
      ({ stderr }) => stderr,
      (error: { stderr: string }) => error.stderr,
    );
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('is long and holds them all', () => {
    expect(log.length).toBeGreaterThan(5000);
    for (const canary of CANARIES) expect(log).toContain(canary);
  });

  test('gives an excerpt of its errors without tags', () => {
    const excerpt = excerptFfmpegLog(log);
    expect(excerpt).toMatch(/h264|aac/);
    expect(excerpt).toMatch(/\(\d+ times\)/);
    expect(excerpt.length).toBeLessThanOrEqual(2000);
    for (const canary of [...CANARIES, folder]) expect(excerpt).not.toContain(canary);
  });

  test('a log that starts inside a tag contains no error line of the tag', () => {
    const cut = `Error opening input: planted-second-line\n${' '.repeat(64 * 1024)}\nConversion failed!`;
    expect(excerptFfmpegLog(cut)).toBe('Conversion failed!');
  });
});

describe('a line', () => {
  test.each([
    'Input #0, mov,mp4, from /x/y.mp4:',
    '  Error opening input: a tag that pretends',
    '    title           : error',
    '                    : Error opening input: a tag of several lines',
    '[Parsed_showinfo_0 @ 0x55] side data - User Data: error',
    'Error: password=hunter2',
    '[http @ 0x55] Authorization: Basic abc failed',
    '[out#0 @ 0x55] video:12kB audio:3kB',
    '',
  ])('%j is not logged', (line) => {
    expect(excerptFfmpegLog(line)).toBe('');
  });

  test.each([
    ['[h264 @ 0x55c0ffee] Invalid NAL unit size (5 > 3).', '[h264] Invalid NAL unit size (5 > 3).'],
    ["Error opening input file 'Our wedding.mp4'.", 'Error opening input file <text>.'],
    ['[vist#0:0/h264 @ 0x55] [dec:h264 @ 0x56] Error 5', '[vist#0:0/h264] [dec:h264] Error 5'],
    ['/srv/data/objects/ab/cd: Invalid data found', '<path>: Invalid data found'],
    ['Error opening https://user:pass@host.example/x?key=1 now', 'Error opening <url> now'],
    ['Error at +48.8584+002.2945/ here', 'Error at <location> here'],
    ['Error at 48.85840, 2.29450', 'Error at <location>'],
    ['Error from anna@mail.example', 'Error from <address>'],
    ['Error in AKIAIOSFODNN7EXAMPLEabcdef0123456789', 'Error in <key>'],
    ['Error "quoted" ünd\u0007', 'Error <text> ?nd?'],
  ])('%j becomes %j', (line, logged) => {
    expect(excerptFfmpegLog(line)).toBe(logged);
  });

  test('repetitions with other numbers are counted', () => {
    expect(excerptFfmpegLog('Error 1\nError 22\nmissing\nError 3')).toBe('Error 1 (3 times)\nmissing');
  });
});

test('a megabyte of different lines is reduced to the last 2000 characters', () => {
  const words = Array.from(
    { length: 20_000 },
    (_, index) => `Error ${'abcdefghij'[index % 10]}${'x'.repeat(index % 23)} failed`,
  );
  const excerpt = excerptFfmpegLog(
    [...words, `Error ${'long '.repeat(10_000)}`, 'Conversion failed!'].join('\n'),
  );
  expect(excerpt.length).toBeLessThanOrEqual(2000);
  expect(excerpt).toMatch(/Conversion failed!$/);
  for (const line of excerpt.split('\n')) expect(line.length).toBeLessThan(220);
});
