// Tests the setting LADDER and its messages.
import { describe, expect, test } from 'vitest';
import { createSettings } from '../platform/settings/read-settings.ts';
import { DEFAULT_LADDER } from './plan/ladder.ts';
import { readEncodingSettings } from './settings.ts';

function read(environment: Record<string, string>) {
  const settings = createSettings(environment);
  return { ladder: readEncodingSettings(settings).ladder, problems: settings.problems };
}
const problemsOf = (ladder: unknown) => read({ LADDER: JSON.stringify(ladder) }).problems;
const rung = (height: unknown, max_kbps: unknown) => ({ height, max_kbps });

test('the ladder has a default', () => {
  expect(read({})).toEqual({ ladder: DEFAULT_LADDER, problems: [] });
  expect(read({ LADDER: '{}' })).toEqual({ ladder: DEFAULT_LADDER, problems: [] });
});

test('every member can be set alone', () => {
  expect(read({ LADDER: '{"max_height": 2160}' }).ladder).toEqual({ ...DEFAULT_LADDER, maxHeight: 2160 });
  expect(read({ LADDER: '{"h264": {"crf": 21}}' }).ladder.options.h264).toEqual({
    crf: 21,
    preset: 'veryfast',
  });
  expect(read({ LADDER: '{"av1": {"preset": 8}}' }).ladder.options.av1).toEqual({ crf: 35, preset: '8' });
  expect(
    read({
      LADDER:
        '{"rungs": [{"height": 540, "max_kbps": 1800, "profile": "main"}, {"height": 234, "max_kbps": 300}]}',
    }),
  ).toMatchObject({
    ladder: {
      rungs: [
        { height: 540, maxKilobits: 1800, profile: 'main' },
        { height: 234, maxKilobits: 300, profile: 'high' },
      ],
    },
    problems: [],
  });
});

describe('a mistake in LADDER is reported with its field and what is allowed', () => {
  test.each(['', ' ', 'null'])('an empty value %j counts as unset or is refused', (value) =>
    expect(read({ LADDER: value }).problems).toHaveLength(value.trim() === '' ? 0 : 1),
  );
  test.each(['[]', '7', '{"max_height": 720', '{"max_height": 720, "max_height": 480}', "{'a': 1}"])(
    'no JSON object: %s',
    (value) =>
      expect(read({ LADDER: value }).problems).toEqual([
        'LADDER must be a JSON object without duplicate names, such as {"max_height": 720}',
      ]),
  );
  test.each([
    [{ maxHeight: 720 }, 'LADDER.maxHeight is unknown. Allowed: max_height, rungs, h264, av1, hevc'],
    [{ max_height: 4320 }, 'LADDER.max_height must be a whole number from 144 to 2160'],
    [{ max_height: '720' }, 'LADDER.max_height must be a whole number from 144 to 2160'],
    [{ rungs: [] }, 'LADDER.rungs must be a list of 1 to 8 objects'],
    [{ rungs: {} }, 'LADDER.rungs must be a list of 1 to 8 objects'],
    [{ rungs: [7] }, 'LADDER.rungs[0] must be an object'],
    [{ rungs: [{ height: 720 }] }, 'LADDER.rungs[0].max_kbps must be a whole number from 50 to 100000'],
    [{ rungs: [rung(720, 10)] }, 'LADDER.rungs[0].max_kbps must be a whole number from 50 to 100000'],
    [
      { rungs: [{ ...rung(720, 2000), profile: 'baseline' }] },
      'LADDER.rungs[0].profile must be one of high, main',
    ],
    [
      { rungs: [{ ...rung(720, 2000), kbps: 1 }] },
      'LADDER.rungs[0].kbps is unknown. Allowed: height, max_kbps, profile',
    ],
    [
      { rungs: [rung(480, 1000), rung(720, 900)] },
      'LADDER.rungs[1].height must be less than 480, the height above it',
    ],
    [
      { rungs: [rung(720, 1000), rung(480, 1200)] },
      'LADDER.rungs[1].max_kbps must be at most 1000, as above it',
    ],
    [{ h264: { crf: 51 } }, 'LADDER.h264.crf must be a whole number from 15 to 35'],
    [
      { hevc: { preset: 'placebo' } },
      'LADDER.hevc.preset must be one of ultrafast, superfast, veryfast, faster, fast, medium, slow',
    ],
    [{ av1: { preset: 2 } }, 'LADDER.av1.preset must be one of 4, 5, 6, 7, 8, 9, 10, 11, 12'],
    [{ av1: [] }, 'LADDER.av1 must be an object'],
  ])('%j', (ladder, problem) => expect(problemsOf(ladder)).toContain(problem));

  test('all mistakes are reported together', () =>
    expect(problemsOf({ max_height: 0, h264: { crf: 0 }, rungs: [rung(1, 1)] })).toHaveLength(4));
});

test('further codecs are off by default, and named in any order', () => {
  expect(read({}).ladder.extraCodecs).toEqual([]);
  expect(read({ EXTRA_CODECS: 'hevc, av1' }).ladder.extraCodecs).toEqual(['av1', 'hevc']);
  expect(read({ EXTRA_CODECS: 'av1,h265' }).problems).toEqual([
    'EXTRA_CODECS names "h265", which is not supported. Supported: av1, hevc',
  ]);
});

test('codecs of HDR are off by default, and named in any order', () => {
  expect(read({}).ladder.hdrCodecs).toEqual([]);
  expect(read({ HDR_CODECS: 'hevc,av1' }).ladder).toEqual({ ...DEFAULT_LADDER, hdrCodecs: ['av1', 'hevc'] });
  expect(read({ HDR_CODECS: 'hevc', EXTRA_CODECS: 'av1', LADDER: '{}' }).ladder).toMatchObject({
    extraCodecs: ['av1'],
    hdrCodecs: ['hevc'],
  });
  expect(read({ HDR_CODECS: 'h264' }).problems).toEqual([
    'HDR_CODECS names "h264", which is not supported. Supported: av1, hevc',
  ]);
});
