// Jobs that failed, run or wait, with the reason of their latest failure.
import { SegmentedControl, Select } from '@mantine/core';
import type { Job } from '@mediary/contract/schemas/admin/jobs';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type JobFilters, jobsQuery, queuesQuery } from '../../api/work.ts';
import { Rows, ShowMore } from '../../parts/rows.tsx';
import { Loaded, Section } from '../../parts/section.tsx';
import { JOB_COLUMNS } from './job-columns.tsx';

const STATES: readonly { readonly value: Job['state']; readonly label: string }[] = [
  { value: 'failed', label: 'Failed' },
  { value: 'active', label: 'Running' },
  { value: 'waiting', label: 'Waiting' },
  { value: 'delayed', label: 'Delayed' },
];

const NONE: Readonly<Partial<Record<Job['state'], string>>> = {
  failed: 'No job has failed for good. Those that failed and will run again are under “Delayed”.',
  active: 'No job runs at this moment.',
  waiting: 'No job waits: the workers keep up.',
  delayed: 'No job waits for a time or for its next run.',
};

export function Jobs() {
  const [filters, setFilters] = useState<JobFilters>({ state: 'failed', queue: undefined });
  const query = useInfiniteQuery(jobsQuery(filters));
  return (
    <Section title="Jobs" aside={<Filters filters={filters} onChange={setFilters} />}>
      <Loaded query={query}>
        {({ pages }) => (
          <Rows
            label="Jobs"
            rows={pages.flatMap(({ items }) => items)}
            keyOf={({ id }) => id}
            columns={JOB_COLUMNS}
            empty={NONE[filters.state]}
          />
        )}
      </Loaded>
      <ShowMore query={query} />
    </Section>
  );
}

type FiltersProps = { readonly filters: JobFilters; readonly onChange: (filters: JobFilters) => void };

function Filters({ filters, onChange }: FiltersProps) {
  const { data } = useQuery(queuesQuery);
  return (
    <>
      <SegmentedControl
        size="xs"
        data={[...STATES]}
        value={filters.state}
        onChange={(state) => onChange({ ...filters, state })}
        aria-label="State of jobs"
      />
      <Select
        size="xs"
        w={190}
        aria-label="Queue"
        placeholder="All queues"
        data={data?.items.map(({ queue }) => queue) ?? []}
        value={filters.queue ?? null}
        onChange={(queue) => onChange({ ...filters, queue: queue ?? undefined })}
        searchable
        clearable
      />
    </>
  );
}
