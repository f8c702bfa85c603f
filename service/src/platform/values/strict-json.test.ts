// Tests the JSON parser of tokens and settings.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { getOwn, parseJsonObject } from './strict-json.ts';

const parse = (text: string) => parseJsonObject(Buffer.from(text));
const nested = fc.dictionary(fc.string(), fc.jsonValue());

describe('the JSON of tokens', () => {
  test('any object is read as JSON.parse reads it, however it is spaced', () => {
    fc.assert(
      fc.property(nested, fc.constantFrom('', ' ', '\n\t'), (object, space) => {
        const text = JSON.stringify(object, null, space);
        expect(parse(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  test('a repeated name is rejected, wherever it stands among the others', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }),
        fc.nat(),
        fc.jsonValue(),
        (object, pick, value) => {
          const members = Object.entries(object).map(
            ([name, member]) => `${JSON.stringify(name)}:${JSON.stringify(member)}`,
          );
          const names = Object.keys(object);
          const again = `${JSON.stringify(names[pick % names.length])}:${JSON.stringify(value)}`;
          expect(parse(`{${[...members, again].join(',')}}`)).toBeUndefined();
          expect(parse(`{${[again, ...members].join(' , ')}}`)).toBeUndefined();
        },
      ),
      { numRuns: 500 },
    );
  });

  test.each([
    ['spelled with an escape', '{"user_id":"a","user\\u005fid":"b"}'],
    ['of the prototype', '{"__proto__":1,"__proto__":2}'],
    ['after a string that looks like a member', '{"a":"\\",\\"b\\":","b":1,"b":2}'],
    ['after a nested object', '{"a":{"b":[{"c":1}]},"a":1}'],
  ])('a repeated name %s is refused', (_, text) => {
    expect(parse(text)).toBeUndefined();
  });

  test.each([
    '{"a":":","b":{"a":1,"c":"{"},"d":["a","}"]}',
    '{"\\\\":"\\\\","\\"":":"}',
    '{}',
    ' {"__proto__":{"type":"access"}} ',
  ])('%s repeats nothing', (text) => {
    expect(parse(text)).toEqual(JSON.parse(text));
  });

  test.each([
    'null',
    'true',
    '1',
    '"text"',
    '[]',
    '[{"a":1}]',
    '',
    '{',
    '{"a":1}}',
    "{'a':1}",
    '{"a":NaN}',
    '{"a":1,}',
    '{/**/}',
    '\ufeff{}',
    '{}\0',
  ])('%j is no object', (text) => {
    expect(parse(text)).toBeUndefined();
  });

  test('bytes that are not UTF-8 are rejected, not replaced', () => {
    expect(parseJsonObject(Buffer.from('{"a":"\xff"}', 'latin1'))).toBeUndefined();
    expect(parseJsonObject(Buffer.from('{"a":1}', 'utf16le'))).toBeUndefined();
  });

  test('deep nesting ends as a value or a refusal', () => {
    expect(() => parse(`{"a":${'['.repeat(9_000)}${']'.repeat(9_000)}}`)).not.toThrow();
    expect(parse(`{"a":${'['.repeat(9_000)}}`)).toBeUndefined();
  });

  test('a member is one that the text had', () => {
    const object = parse('{"a":1,"__proto__":{"b":2}}') ?? {};
    expect([getOwn(object, 'a'), getOwn(object, 'b'), getOwn(object, 'toString')]).toEqual([
      1,
      undefined,
      undefined,
    ]);
  });
});
