// Tests the choice of the content encoding by Accept-Encoding (RFC 9110 §12.5.3).
import { expect, test } from 'vitest';
import { chooseEncoding } from './prepared-content.ts';

test.each([
  [undefined, 'identity'],
  ['', 'identity'],
  ['br', 'br'],
  ['gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['GZIP;Q=0.5', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['br; q=0, gzip ;q=0.0', 'identity'],
  ['*', 'br'],
  ['br;q=0, *', 'gzip'],
  ['*;q=0', 'identity'],
  ['identity', 'identity'],
  ['deflate, zstd', 'identity'],
])('%s → %s', (accepted, encoding) => {
  expect(chooseEncoding(accepted)).toBe(encoding);
});
