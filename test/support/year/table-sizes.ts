// Rows and bytes of every table of a database, found in its catalog.
import type pg from 'pg';

type TableSize = { readonly rows: number; readonly bytes: number };
export type TableSizes = ReadonlyMap<string, TableSize>;

/** Partitions count for their table. */
const TABLES = `
  select format('%I.%I', nspname, relname) as name,
         (select pg_total_relation_size(pg_class.oid)
                 + coalesce(sum(pg_total_relation_size(relid)) filter (where relid <> pg_class.oid), 0)
            from pg_partition_tree(pg_class.oid))::bigint as bytes
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
   where relkind in ('r', 'p') and not relispartition
     and nspname not in ('pg_catalog', 'information_schema')
   order by 1`;

/** Dead rows are removed first: autovacuum follows the real clock. */
export async function measureTables(client: pg.Client): Promise<TableSizes> {
  await client.query('vacuum');
  const { rows } = await client.query<{ name: string; bytes: string }>(TABLES);
  const sizes = new Map<string, TableSize>();
  for (const { name, bytes } of rows) {
    const counted = await client.query<{ count: number }>(`select count(*)::int as count from ${name}`);
    sizes.set(name, { rows: counted.rows[0]?.count ?? 0, bytes: Number(bytes) });
  }
  return sizes;
}

/** The largest number of rows and of bytes of each table. */
export function largestOf(measured: readonly TableSizes[]): TableSizes {
  const largest = new Map<string, TableSize>();
  for (const sizes of measured)
    for (const [name, { rows, bytes }] of sizes) {
      const before = largest.get(name) ?? { rows: 0, bytes: 0 };
      largest.set(name, { rows: Math.max(rows, before.rows), bytes: Math.max(bytes, before.bytes) });
    }
  return largest;
}

/** The months of a partitioned table, such as `2026_11`, in order. */
export async function listMonths(client: pg.Client, parent: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
      where inhparent = $1::regclass and relname ~ '_\\d{4}_\\d{2}$' order by 1`,
    [parent],
  );
  return rows.map(({ name }) => name.slice(-7));
}
