// How many jobs each queue has, and how old the oldest one is.
import { Badge, Switch } from '@mantine/core';
import type { Queue } from '@mediary/contract/schemas/admin/jobs';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { queuesQuery } from '../../api/work.ts';
import { formatAge, formatCount } from '../../parts/format.ts';
import { type Column, Rows } from '../../parts/rows.tsx';
import { Loaded, Section } from '../../parts/section.tsx';

export function Queues() {
  const query = useQuery(queuesQuery);
  const [showsAll, setShowsAll] = useState(false);
  return (
    <Section
      title="Queues"
      about={query.data && summarize(query.data.items)}
      aside={
        <Switch
          label="Also idle ones"
          checked={showsAll}
          onChange={({ currentTarget }) => setShowsAll(currentTarget.checked)}
        />
      }
    >
      <Loaded query={query}>
        {({ items }) => (
          <Rows
            label="Queues"
            rows={showsAll ? items : items.filter(isBusy)}
            keyOf={({ queue }) => queue}
            columns={COLUMNS}
            empty="All queues are idle: no job waits, runs or has failed."
          />
        )}
      </Loaded>
    </Section>
  );
}

const isBusy = ({ waiting, active, delayed, failed }: Queue): boolean =>
  waiting + active + delayed + failed > 0;

function summarize(queues: readonly Queue[]): string {
  const waiting = queues.reduce((sum, queue) => sum + queue.waiting, 0);
  const oldest = Math.max(0, ...queues.map(({ oldest_waiting_s: seconds }) => seconds ?? 0));
  if (waiting === 0) return 'No job waits';
  return `${formatCount(waiting)} waiting, the oldest for ${formatAge(oldest)}`;
}

const COLUMNS: readonly Column<Queue>[] = [
  { label: 'Queue', render: ({ queue }) => queue },
  { label: 'Waiting', width: 90, render: ({ waiting }) => formatCount(waiting) },
  {
    label: 'Oldest',
    width: 90,
    render: ({ oldest_waiting_s: seconds }) => (seconds === null ? '–' : formatAge(seconds)),
  },
  { label: 'Delayed', width: 90, render: ({ delayed }) => formatCount(delayed) },
  { label: 'Running', width: 90, render: ({ active }) => formatCount(active) },
  {
    label: 'Failed',
    width: 90,
    render: ({ failed }) =>
      failed === 0 ? (
        0
      ) : (
        <Badge variant="dot" color="red">
          {formatCount(failed)}
        </Badge>
      ),
  },
  { label: 'Last hour', width: 100, render: ({ recently_done: done }) => `${formatCount(done)} done` },
];
