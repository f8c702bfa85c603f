// Tests which headers an outbound request may carry, and to whom.
import { expect, test } from 'vitest';
import { findInvalidHeader, withoutCredentials } from './outbound-headers.ts';

test.each([
  ['Host', 'internal'],
  ['connection', 'close'],
  ['Content-Length', '0'],
  ['transfer-encoding', 'chunked'],
  ['Accept-Encoding', 'gzip'],
  ['Proxy-Authorization', 'Basic x'],
  ['Upgrade', 'h2c'],
  ['', 'x'],
  ['x y', 'x'],
  ['x:', 'x'],
  ['x\r\ny', 'x'],
  ['x-a', 'a\r\nb: c'],
  ['x-a', 'a\0'],
  ['x-a', '€'],
])('%j: %j cannot be sent', (name, value) => {
  expect(findInvalidHeader({ accept: '*/*', [name]: value })).toBe(name);
});

test('other headers can be sent', () => {
  expect(
    findInvalidHeader({ Authorization: 'Bearer a.b', 'X-Api-Key': 'ä', Cookie: '', range: 'bytes=1-' }),
  ).toBe(undefined);
});

test('only headers that hold no credential follow a redirect to another origin', () => {
  const sent = { Authorization: 'x', cookie: 'x', 'X-Api-Key': 'x', Range: 'bytes=1-', 'user-agent': 'a' };
  expect(withoutCredentials(sent)).toEqual({ Range: 'bytes=1-', 'user-agent': 'a' });
});
