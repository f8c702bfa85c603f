// The parser of server-sent events.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createEventParser, type ServerEvent } from './event-stream.ts';

const parse = (...chunks: readonly string[]): ServerEvent[] => {
  const parser = createEventParser();
  return chunks.flatMap((chunk) => parser.push(chunk));
};
const STREAM = [
  ': hello',
  'id: 1',
  'event: asset.ready',
  'data: {"a":',
  'data:  1}',
  '',
  'data:no type, the same id',
  '',
  'event: without data',
  '',
  ':',
  'id: 2',
  'data',
  '',
  'unknown: field',
  'data: x: y',
  '',
  'data: never finished',
];
const EVENTS = [
  { type: 'asset.ready', data: '{"a":\n 1}', id: '1' },
  { type: 'message', data: 'no type, the same id', id: '1' },
  { type: 'message', data: '', id: '2' },
  { type: 'message', data: 'x: y', id: '2' },
];

test.each([
  ['LF', '\n'],
  ['CRLF', '\r\n'],
  ['CR', '\r'],
])('reads a stream with %s, however it is split', (_name, end) => {
  const text = `\uFEFF${STREAM.join(end)}`;
  fc.assert(
    fc.property(fc.array(fc.nat(text.length)), (positions) => {
      const cuts = [0, ...positions.sort((one, other) => one - other), text.length];
      expect(parse(...cuts.map((cut, index) => text.slice(cut, cuts[index + 1] ?? cut)))).toEqual(EVENTS);
    }),
  );
});

test('ignores an id with a NUL, and knows the id of a block without data', () => {
  const parser = createEventParser();
  expect(parser.push('id: 1\nid: a\0b\nretry: 3\ndata: x\n\n')).toMatchObject([{ id: '1' }]);
  expect(parser.push('id: 2\n\n')).toEqual([]);
  expect(parser.lastId()).toBe('2');
  parser.push('id: 3\ndata: cut');
  expect(parser.lastId()).toBe('2');
});
