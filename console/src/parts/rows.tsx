// A table; on a phone each row is a card, so that nothing scrolls sideways.
import { Button, Center, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';

export type Column<T> = {
  readonly label: string;
  readonly render: (row: T) => ReactNode;
  readonly width?: number | string;
};

type RowsProps<T> = {
  /** What the rows are, for screen readers. */
  readonly label: string;
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  readonly columns: readonly Column<T>[];
  /** Says what would be here, and what to do next. */
  readonly empty: ReactNode;
};

export function Rows<T>({ label, rows, keyOf, columns, empty }: RowsProps<T>) {
  if (rows.length === 0)
    return (
      <Text c="dimmed" size="sm" py="sm">
        {empty}
      </Text>
    );
  return (
    <Table className="rows" aria-label={label} layout="fixed" verticalSpacing="xs">
      <Table.Thead>
        <Table.Tr>
          {columns.map(({ label: head, width }) => (
            <Table.Th key={head} w={width}>
              {head}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row) => (
          <Table.Tr key={keyOf(row)}>
            {columns.map(({ label: head, render }) => (
              <Table.Td key={head} data-label={head} className="break-anywhere">
                {render(row)}
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

type PagedAnswer = {
  readonly hasNextPage: boolean;
  readonly isFetchingNextPage: boolean;
  readonly fetchNextPage: () => unknown;
};

export const ShowMore = ({ query }: { readonly query: PagedAnswer }) =>
  query.hasNextPage && (
    <Center>
      <Button
        variant="default"
        size="xs"
        loading={query.isFetchingNextPage}
        onClick={() => void query.fetchNextPage()}
      >
        Show more
      </Button>
    </Center>
  );
