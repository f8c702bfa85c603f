// A database for tests: it answers as the test says, also in a transaction.
import type { Database, Queries, Transaction } from './database.ts';
import type { RowOf, Shape } from './row.ts';
import type { Statement } from './sql.ts';

type Answers = {
  readonly all: (text: string, values: readonly unknown[], name: string) => readonly unknown[];
};

export function databaseOf({ all }: Answers): Database {
  const queries: Queries = {
    all: async <S extends Shape>({ text, values, name }: Statement<S>) =>
      all(text, values, name) as RowOf<S>[],
    one: async <S extends Shape>({ text, values, name }: Statement<S>) =>
      all(text, values, name)[0] as RowOf<S> | undefined,
  };
  return { ...queries, transaction: (work) => work(queries as Transaction), close: async () => {} };
}
