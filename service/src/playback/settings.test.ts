// COUNTRY_HEADER: who names countries. EMBED_FRAME_ANCESTORS: which sites may embed the player.
// SEGMENT_ENCRYPTION: what is encrypted.
import { expect, test } from 'vitest';
import { createSettings } from '../platform/settings/read-settings.ts';
import { readPlaybackSettings } from './settings.ts';

const OTHERS = { s3: undefined, isBehindProxy: false };

const read = (value?: string) => {
  const settings = createSettings(value === undefined ? {} : { EMBED_FRAME_ANCESTORS: value });
  const { embedFrameAncestors } = readPlaybackSettings(settings, OTHERS).delivery;
  return { embedFrameAncestors, problems: settings.problems };
};

test.each([
  [undefined, '*'],
  ['none', "'none'"],
  ['self, https://*.example.com', "'self' https://*.example.com"],
  ['http://localhost:3000', 'http://localhost:3000'],
])('%j becomes %j', (value, expected) => {
  expect(read(value)).toEqual({ embedFrameAncestors: expected, problems: [] });
});

test.each([
  'example.com',
  'https://a.example; script-src *',
  'https://a.example/path',
  "'self'",
  'none,self',
])('%j is refused', (value) => {
  expect(read(value).problems).toEqual([expect.stringContaining('EMBED_FRAME_ANCESTORS')]);
});

test('COUNTRY_HEADER is the name of a header that a trusted proxy sends', () => {
  const readHeader = (value: string, isBehindProxy: boolean) => {
    const settings = createSettings({ COUNTRY_HEADER: value });
    const { countryHeader } = readPlaybackSettings(settings, { ...OTHERS, isBehindProxy });
    return settings.problems.length > 0 ? settings.problems : countryHeader;
  };
  expect(readHeader('CF-IPCountry', true)).toBe('cf-ipcountry');
  expect(readHeader('CF-IPCountry', false)).toEqual([expect.stringContaining('TRUST_PROXY')]);
  expect(readHeader('a: b', true)).toEqual([expect.stringContaining('COUNTRY_HEADER')]);
});

test('SEGMENT_ENCRYPTION is off, or private', () => {
  const readEncryption = (value?: string) => {
    const settings = createSettings(value === undefined ? {} : { SEGMENT_ENCRYPTION: value });
    return { ...readPlaybackSettings(settings, OTHERS).delivery, problems: settings.problems };
  };
  expect(readEncryption()).toMatchObject({ segmentEncryption: 'off', problems: [] });
  expect(readEncryption('private')).toMatchObject({ segmentEncryption: 'private', problems: [] });
  expect(readEncryption('all').problems).toEqual([expect.stringContaining('SEGMENT_ENCRYPTION')]);
});
