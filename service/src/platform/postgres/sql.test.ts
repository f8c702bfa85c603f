// Tests that values are always parameters, and that a statement name has exactly one text.
import { describe, expect, test } from 'vitest';
import { clause, columns, columnsOf, composeClauses, prepare, sql } from './sql.ts';

const note = { id: 'uuid', words: 'text?' } as const;
const find = (id: string, words: string) =>
  sql('sql test: find', note)`select ${columns(note)} from note where id = ${id} and words = ${words}`;

describe('a statement', () => {
  test('numbers its values in order and contains its fragments as text', () => {
    expect(find('1', "'; drop table note")).toEqual({
      name: 'sql test: find',
      shape: note,
      text: 'select id, words from note where id = $1 and words = $2',
      values: ['1', "'; drop table note"],
    });
  });

  test('has the same text for all values', () => {
    expect(find('1', 'a').text).toBe(find('2', 'b').text);
  });

  test('has an empty shape by default', () => {
    expect(sql('sql test: nothing')`delete from note`).toMatchObject({ shape: {}, values: [] });
  });

  test('accepts null, lists and objects as values', () => {
    const values = [null, ['a', 'b'], { words: 'a' }, undefined];
    const statement = sql('sql test: kinds')`select ${values[0]}, ${values[1]}, ${values[2]}, ${values[3]}`;
    expect(statement).toMatchObject({ text: 'select $1, $2, $3, $4', values });
  });

  test('treats a request object that looks like a fragment as a value', () => {
    const outside: unknown = JSON.parse('{"fragment":"1; drop table note","text":"1; drop table note"}');
    expect(sql('sql test: outside')`select ${outside}`).toMatchObject({
      text: 'select $1',
      values: [outside],
    });
  });
});

describe('a name', () => {
  test('must be unique: a second statement with the name is rejected at its first use', () => {
    const first = () => sql('sql test: twice')`select 1`;
    const second = () => sql('sql test: twice')`select 2`;
    expect(first().text).toBe('select 1');
    expect(second).toThrow('two statements are named "sql test: twice"');
    expect(first().text).toBe('select 1');
  });
});

describe('a statement of clauses', () => {
  const of = (...keys: string[]) =>
    composeClauses('sql test: clauses', note, [
      clause('')`select 1 where`,
      ...keys.map((key) => clause(key)`and ${key}`),
    ]);

  test('is named after its clauses and numbers their values in order', () => {
    expect(of('kind', 'tag')).toEqual({
      name: 'sql test: clauses kind tag',
      shape: note,
      text: 'select 1 where and $1 and $2',
      values: ['kind', 'tag'],
    });
  });

  test('has a unique name of at most 63 characters, for any number of clauses', () => {
    const keys = Array.from({ length: 20 }, (_, index) => `clause${index}`);
    const names = [of(...keys), of(...keys, 'one'), of(...keys, 'other'), of(...keys)].map(
      ({ name }) => name,
    );
    expect(names.map((name) => name.length <= 63)).toEqual([true, true, true, true]);
    expect(new Set(names).size).toBe(3);
    expect(names[3]).toBe(names[0]);
  });
});

test('each column has the alias', () => {
  expect(sql('sql test: alias')`select ${columnsOf('n', note)} from note n`.text).toBe(
    'select n.id, n.words from note n',
  );
});

test('a statement of a library is named by its text, in the length that PostgreSQL keeps', () => {
  const text = `select ${'column, '.repeat(20)} $1::int`;
  const { name = '', ...statement } = prepare(text, [1]);
  expect(statement).toEqual({ text, values: [1] });
  expect(name).toMatch(/^[0-9a-f]{63}$/);
  expect(prepare(text, [2]).name).toBe(name);
  expect(prepare(`${text} + 1`, [1]).name).not.toBe(name);
});
