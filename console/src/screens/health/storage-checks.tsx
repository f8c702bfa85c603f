// Comparisons of the database with the object store: the latest ones, and a button that starts one.
import { Badge, Button, Group, Progress, Stack, Text } from '@mantine/core';
import type { StorageCheck } from '@mediary/contract/schemas/admin/storage-checks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { cancelCheck, checksQuery, hasEnded } from '../../api/health.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { formatCount, formatCountOf } from '../../parts/format.ts';
import { type Column, Rows } from '../../parts/rows.tsx';
import { Loaded, Section } from '../../parts/section.tsx';
import { Time } from '../../parts/time.tsx';
import { CheckFindings } from './check-findings.tsx';
import { StartCheck } from './start-check.tsx';

export function StorageChecks() {
  const query = useQuery(checksQuery);
  const [openId, setOpenId] = useState<string>();
  const openCheck = query.data?.items.find(({ id }) => id === openId);
  return (
    <Section
      title="Storage checks"
      about="Compare the database with the object store and the hosted providers, in both directions."
      aside={<StartCheck isRunning={query.data?.items.every(hasEnded) === false} />}
    >
      <Loaded query={query}>
        {({ items }) => (
          <Rows
            label="Storage checks"
            rows={items}
            keyOf={({ id }) => id}
            columns={[...COLUMNS, resultColumn(openId, setOpenId)]}
            empty="No check has run. Start one after a restore, or when files seem to be missing."
          />
        )}
      </Loaded>
      {openCheck && <CheckFindings check={openCheck} />}
    </Section>
  );
}

const COLORS = { waiting: 'gray', running: 'blue', done: 'teal', failed: 'red', cancelled: 'gray' } as const;

const COLUMNS: readonly Column<StorageCheck>[] = [
  { label: 'Started', width: 170, render: ({ created_at: at }) => <Time at={at} /> },
  {
    label: 'State',
    render: (check) => (
      <Stack gap={4} align="flex-start">
        <Badge variant="dot" color={COLORS[check.status]}>
          {check.status === 'running' ? `running: ${check.stage}` : check.status}
        </Badge>
        {check.status === 'running' && <Progress value={100} animated w="100%" aria-label="The check runs" />}
        <Text size="xs" c="dimmed">
          {check.repair ? 'Repairs what it finds. ' : 'Changes nothing. '}
          {check.checksums && 'Reads every original. '}
          {check.error}
          {check.skipped_providers.length > 0 && `Not asked: ${check.skipped_providers.join(', ')}.`}
        </Text>
      </Stack>
    ),
  },
  {
    label: 'Compared',
    render: ({ object_count: objects, asset_count: assets, video_count: videos }) =>
      [
        formatCountOf(objects, 'object'),
        formatCountOf(assets, 'asset'),
        formatCountOf(videos, 'hosted video'),
      ].join(', '),
  },
];

const resultColumn = (
  openId: string | undefined,
  setOpenId: (id: string | undefined) => void,
): Column<StorageCheck> => ({
  label: 'Result',
  render: (check) => (
    <Group gap="xs">
      {check.finding_count === 0 ? (
        <Text size="sm">{hasEnded(check) ? 'No finding' : 'No finding yet'}</Text>
      ) : (
        <Button
          size="xs"
          variant="default"
          aria-expanded={openId === check.id}
          onClick={() => setOpenId(openId === check.id ? undefined : check.id)}
        >
          Findings: {formatCount(check.finding_count)}, repaired: {formatCount(check.repaired_count)}
        </Button>
      )}
      {!hasEnded(check) && (
        <ConfirmButton
          label="Cancel"
          title="Cancel this check?"
          confirm="Cancel the check"
          action={() => cancelCheck(check.id)}
        >
          What it has found and repaired so far stays.
        </ConfirmButton>
      )}
    </Group>
  ),
});
