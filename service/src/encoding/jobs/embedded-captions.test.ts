// Tests that a video is complete without subtitles that cannot be read, and that its owner learns of it.
import { expect, test } from 'vitest';
import { EncodeError, type EmbeddedSubtitles } from '../encoder.ts';
import { createEncodingContext, createTestLog } from '../context.fixture.ts';
import { storeEmbedded } from './embedded-captions.ts';

const REQUEST = {
  source: '/original',
  container: 'mov',
  workFolder: '/work',
  signal: new AbortController().signal,
} as const;

type Extraction = () => Promise<readonly EmbeddedSubtitles[]>;

async function storeFrom(extractSubtitles: Extraction, extractClosedCaptions: Extraction = async () => []) {
  const stored: unknown[] = [];
  const { lines, log } = createTestLog();
  const storeEmbeddedCaptions = async (_: string, subtitles: unknown) => {
    stored.push(subtitles);
  };
  const ctx = createEncodingContext({
    encoder: { extractSubtitles, extractClosedCaptions },
    captions: { storeEmbeddedCaptions },
    log,
  });
  const warnings = await storeEmbedded(ctx, 'an asset', REQUEST);
  return { stored, logged: lines.map(({ facts }) => facts), warnings };
}

test('subtitles are stored without a warning', async () => {
  const subtitles = [
    { index: 2, language: 'en', label: 'English', kind: 'subtitles', bytes: Buffer.from('WEBVTT') },
  ] as const;
  expect(await storeFrom(async () => subtitles)).toEqual({
    stored: [subtitles],
    logged: [],
    warnings: [],
  });
});

test('a failure of ffmpeg is a warning of the asset, and its output goes to the log', async () => {
  const { stored, logged, warnings } = await storeFrom(async () => {
    throw new EncodeError('encode_failed', 'no', 'Invalid data');
  });
  expect(stored).toEqual([]);
  expect(warnings).toEqual([{ code: 'subtitles_unreadable', message: expect.any(String) }]);
  expect(logged).toEqual([
    { asset_id: 'an asset', code: 'encode_failed', ffmpeg_log: expect.stringContaining('Invalid data') },
  ]);
});

const EMPTY = { index: 0, label: 'CC1', kind: 'captions', bytes: Buffer.from('WEBVTT') } as const;

test('closed captions are stored with subtitles, except in a language that these have', async () => {
  const [english, unknown] = ['en', 'und'].map((language) => ({ ...EMPTY, language }));
  const subtitles = [{ ...EMPTY, language: 'en', label: 'English' }];
  const closed = [english, unknown] as EmbeddedSubtitles[];
  const { stored, warnings } = await storeFrom(
    async () => subtitles,
    async () => closed,
  );
  expect(stored).toEqual([[...subtitles, unknown]]);
  expect(warnings).toEqual([]);
});

test('closed captions that cannot be read are no warning, and leave the subtitles', async () => {
  const failing = async () => {
    throw new EncodeError('timed_out', 'no', 'slow');
  };
  const subtitles = [{ ...EMPTY, language: 'en' }];
  const { stored, logged, warnings } = await storeFrom(async () => subtitles, failing);
  expect([stored, warnings]).toEqual([[subtitles], []]);
  expect(logged).toEqual([{ asset_id: 'an asset', code: 'timed_out', ffmpeg_log: expect.any(String) }]);
  expect((await storeFrom(failing, async () => subtitles)).stored).toEqual([subtitles]);
  expect((await storeFrom(async () => [], failing)).stored).toEqual([]);
});

test('other errors let the job run again', async () => {
  const failing = storeFrom(async () => {
    throw new Error('the disk is gone');
  });
  await expect(failing).rejects.toThrow('the disk is gone');
});
