// Tests that all addresses of one client have the same key.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addressKey } from './client-address.ts';

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:0001:0002::6', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['1:2:3:4::', '1:2:3:4::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::FFFF:192.0.2.10', '192.0.2.10'],
  ['::ffff:198.51.100.10', '198.51.100.10'],
  ['1::ffff:192.0.2.1', '1:0:0:0::/64'],
  ['1:2:3::5:6:7:8', '1:2:3:0::/64'],
  ['::192.0.2.1', '0:0:0:0::/64'],
  ['1::2:3:4:5:192.0.2.1', '1:0:2:3::/64'],
  ['1:0020:0:3:4:5:6:7', '1:20:0:3::/64'],
])('%s → %s', (address, key) => {
  expect(addressKey(address)).toBe(key);
});

test('text that is not an address has no key', () => {
  for (const text of [
    '',
    'unknown',
    '192.0.2.1:80',
    '::ffff:192.0.2.1:80',
    '::ffff:192.0.2.1.1',
    '[::1]',
    '1.2.3',
    'a:b',
  ])
    expect(addressKey(text)).toBeUndefined();
});

test('addresses of the same /64 share a key, addresses of different /64 do not', () => {
  const group = fc.integer({ min: 0, max: 0xffff }).map((value) => value.toString(16));
  const half = fc.array(group, { minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(half, half, half, (network, one, other) => {
      const key = addressKey([...network, ...one].join(':'));
      expect(addressKey([...network, ...other].join(':'))).toBe(key);
      expect(addressKey([...one, ...network].join(':')) === key).toBe(one.join() === network.join());
    }),
  );
});
