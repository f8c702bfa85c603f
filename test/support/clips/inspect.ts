// Fails a test when a query result differs from the description of its statement: names, types and nulls.
import type { Inspect } from '../../../service/src/platform/postgres/database.ts';

const NAMES: Readonly<Record<number, string>> = {
  2950: 'uuid',
  25: 'text',
  1009: 'text[]',
  23: 'int4',
  20: 'int8',
  16: 'bool',
  1184: 'timestamptz',
  17: 'bytea',
  3802: 'jsonb',
};

const sorted = (columns: Readonly<Record<string, string>>) => JSON.stringify(Object.entries(columns).sort());

export const inspect: Inspect = ({ name, shape }, { fields, rows }) => {
  const got = Object.fromEntries(
    (fields ?? []).map((field) => [field.name, NAMES[field.dataTypeID] ?? String(field.dataTypeID)]),
  );
  const said = Object.fromEntries(
    Object.entries(shape).map(([column, type]) => [column, type.replace('?', '')]),
  );
  if (sorted(got) !== sorted(said))
    throw new Error(`"${name}" returns ${sorted(got)}, its shape says ${sorted(said)}`);
  for (const [column, type] of Object.entries(shape)) {
    if (!type.endsWith('?') && (rows as Record<string, unknown>[]).some((row) => row[column] === null))
      throw new Error(`"${name}" returned null in ${column}`);
  }
};
