// Tests the tables and fields that the program prints.
import { expect, test } from 'vitest';
import { formatBytes, formatDuration, formatFields, formatTable, toPlain } from './text.ts';

test('columns are aligned, and missing values are a dash', () => {
  expect(
    formatTable(
      ['ID', 'NAME'],
      [
        ['long-id', 'a'],
        ['b', null],
      ],
    ),
  ).toBe(['ID       NAME', 'long-id  a', 'b        –'].join('\n'));
});

test('fields without a value are left out', () => {
  expect(
    formatFields([
      ['id', 'a'],
      ['title', null],
      ['size', 0],
    ]),
  ).toBe('id    a\nsize  0');
});

test('text of the API cannot control the terminal', () => {
  expect(toPlain('a\u001b[31mred\u0007\nb\u202ec')).toBe('a�[31mred��b�c');
  expect(formatTable(['A'], [['x\u001b]0;title\u0007']])).not.toContain('\u001b');
});

test.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1536, '1.5 KiB'],
  [10 * 1024 ** 3, '10.0 GiB'],
  [150 * 1024 ** 2, '150 MiB'],
])('%i bytes are %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

test('durations have hours, minutes and seconds', () => {
  expect(formatDuration(3_725_400)).toBe('01:02:05');
});
