// What a storage check found.
import { Anchor, Text } from '@mantine/core';
import type { StorageCheck, StorageFinding } from '@mediary/contract/schemas/admin/storage-checks';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { checkFindingsQuery } from '../../api/health.ts';
import { formatBytes } from '../../parts/format.ts';
import { type Column, Rows, ShowMore } from '../../parts/rows.tsx';
import { Loaded } from '../../parts/section.tsx';

export function CheckFindings({ check }: { readonly check: StorageCheck }) {
  const query = useInfiniteQuery({ ...checkFindingsQuery(check), placeholderData: keepPreviousData });
  return (
    <>
      <Loaded query={query}>
        {({ pages }) => (
          <Rows
            label="Findings of the check"
            rows={pages.flatMap(({ items }) => items)}
            keyOf={({ kind, key, asset_id: asset, provider_video_id: video }) =>
              [kind, key, asset, video].join(' ')
            }
            columns={COLUMNS}
            empty="No finding."
          />
        )}
      </Loaded>
      <ShowMore query={query} />
    </>
  );
}

const COLUMNS: readonly Column<StorageFinding>[] = [
  {
    label: 'Finding',
    render: ({ kind, message }) => (
      <div>
        {kind}
        <Text size="xs" c="dimmed">
          {message}
        </Text>
      </div>
    ),
  },
  {
    label: 'Where',
    render: ({ asset_id: asset, key, provider, provider_video_id: video, size_bytes: size }) => (
      <div>
        {asset !== null && (
          <Anchor component={Link} href={`/assets/${asset}`} size="sm">
            Asset …{asset.slice(-12)}
          </Anchor>
        )}
        <Text size="xs" c="dimmed">
          {key ?? (video !== null && `${provider}: ${video}`)}
          {size !== null && ` · ${formatBytes(size)}`}
        </Text>
      </div>
    ),
  },
  {
    label: 'Repair',
    width: 200,
    render: ({ repair, repaired_at: repaired, repair_error: error }) => {
      if (error !== null) return error;
      if (repaired !== null) return `Done: ${repair}`;
      return repair === 'none' ? 'None is possible' : `Would be: ${repair}`;
    },
  },
];
