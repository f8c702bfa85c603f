// Tests the parser of captions with the WebVTT files of the W3C.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { TEST_DATA } from '../../../test/support/clips/test-data.ts';
import { parseCaptionFile } from './caption-file.ts';

/** The files of the W3C whose every cue is valid; in the others players skip cues. */
const VALID = RegExp(
  '^(?:entities|tags|text|timestamps|tree-building|header-[a-z]+|ids|newlines|regions-[a-z]+|' +
    'settings-[a-z]+|stylesheets|timings-omitted-hours)\\.vtt$',
);

const root = join(TEST_DATA ?? '', 'captions-vtt/test');

describe.runIf(TEST_DATA)('files of the W3C', () => {
  const all = TEST_DATA ? readdirSync(root, { recursive: true, encoding: 'utf8' }) : [];
  const files = all.filter((name) => name.endsWith('.vtt'));

  test.each(files)('%s', (name) => {
    const bytes = readFileSync(join(root, name));
    if (VALID.test(name.slice(name.indexOf('/') + 1))) {
      const parsed = parseCaptionFile(bytes, { mustBeVtt: true });
      expect(parseCaptionFile(Buffer.from(parsed.text))).toEqual(parsed);
      expect(parsed.text).not.toMatch(/STYLE|REGION|::cue|region:|\0/);
    } else expect(() => parseCaptionFile(bytes)).toThrow(/^Line \d+: /);
  });
});
