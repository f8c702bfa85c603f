// Holds statements to their form: values are never text, and one name means one text for ever.
import { describe, expect, test } from 'vitest';
import { columns, columnsOf, composed, piece, sql } from './sql.ts';

const note = { id: 'uuid', words: 'text?' } as const;
const find = (id: string, words: string) =>
  sql('sql test: find', note)`select ${columns(note)} from note where id = ${id} and words = ${words}`;

describe('a statement', () => {
  test('carries its values beside the text, numbered in order, and its fragments within it', () => {
    expect(find('1', "'; drop table note")).toEqual({
      name: 'sql test: find',
      shape: note,
      text: 'select id, words from note where id = $1 and words = $2',
      values: ['1', "'; drop table note"],
    });
  });

  test('has the same text whatever its values are', () => {
    expect(find('1', 'a').text).toBe(find('2', 'b').text);
  });

  test('returns nothing unless it says what', () => {
    expect(sql('sql test: nothing')`delete from note`).toMatchObject({ shape: {}, values: [] });
  });

  test('takes null, lists and objects as values', () => {
    const values = [null, ['a', 'b'], { words: 'a' }, undefined];
    const statement = sql('sql test: kinds')`select ${values[0]}, ${values[1]}, ${values[2]}, ${values[3]}`;
    expect(statement).toMatchObject({ text: 'select $1, $2, $3, $4', values });
  });

  test('takes an object from outside as a value, even one that looks like a fragment', () => {
    const outside: unknown = JSON.parse('{"fragment":"1; drop table note","text":"1; drop table note"}');
    expect(sql('sql test: outside')`select ${outside}`).toMatchObject({
      text: 'select $1',
      values: [outside],
    });
  });
});

describe('a name', () => {
  test('has one place in the source: a second one is refused when it is first used', () => {
    const first = () => sql('sql test: twice')`select 1`;
    const second = () => sql('sql test: twice')`select 2`;
    expect(first().text).toBe('select 1');
    expect(second).toThrow('two statements are named "sql test: twice"');
    expect(first().text).toBe('select 1');
  });
});

describe('a statement of pieces', () => {
  const of = (...keys: string[]) =>
    composed('sql test: composed', note, [
      piece('')`select 1 where`,
      ...keys.map((key) => piece(key)`and ${key}`),
    ]);

  test('is named by its pieces, and numbers the values of all of them in order', () => {
    expect(of('kind', 'tag')).toEqual({
      name: 'sql test: composed kind tag',
      shape: note,
      text: 'select 1 where and $1 and $2',
      values: ['kind', 'tag'],
    });
  });

  test('keeps a name of its own, however many pieces it has: no more of it is read than 63 characters', () => {
    const keys = Array.from({ length: 20 }, (_, index) => `piece${index}`);
    const names = [of(...keys), of(...keys, 'one'), of(...keys, 'other'), of(...keys)].map(
      ({ name }) => name,
    );
    expect(names.map((name) => name.length <= 63)).toEqual([true, true, true, true]);
    expect(new Set(names).size).toBe(3);
    expect(names[3]).toBe(names[0]);
  });
});

test('columns under an alias carry it, each of them', () => {
  expect(sql('sql test: alias')`select ${columnsOf('n', note)} from note n`.text).toBe(
    'select n.id, n.words from note n',
  );
});
