// The processes of the service, with what each can do and what it runs.
import { Anchor, Badge, Group, Text } from '@mantine/core';
import type { WorkerProcess } from '@mediary/contract/schemas/admin/workers';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { drainWorker, workersQuery } from '../../api/work.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { formatBytes } from '../../parts/format.ts';
import { type Column, Rows, ShowMore } from '../../parts/rows.tsx';
import { Loaded, Section } from '../../parts/section.tsx';
import { Time } from '../../parts/time.tsx';

export function Workers() {
  const query = useInfiniteQuery(workersQuery);
  return (
    <Section title="Processes" about="Those that ended are listed for a day.">
      <Loaded query={query}>
        {({ pages }) => (
          <Rows
            label="Processes"
            rows={pages.flatMap(({ items }) => items)}
            keyOf={({ id }) => id}
            columns={COLUMNS}
            empty="No process has reported yet. Each reports within 10 s of its start."
          />
        )}
      </Loaded>
      <ShowMore query={query} />
    </Section>
  );
}

const COLORS = { live: 'teal', draining: 'yellow', lost: 'red', stopped: 'gray' } as const;

const COLUMNS: readonly Column<WorkerProcess>[] = [
  {
    label: 'Process',
    render: ({ host, roles, version }) => (
      <div>
        {host}
        <Text size="xs" c="dimmed">
          {roles.join(' and ')} · version {version}
        </Text>
      </div>
    ),
  },
  {
    label: 'State',
    width: 180,
    render: ({ state, last_seen_at: seen, started_at: started, stopped_at: stopped }) => (
      <div>
        <Badge variant="dot" color={COLORS[state]}>
          {state}
        </Badge>
        <Text size="xs" c="dimmed">
          {state === 'stopped' && stopped !== null ? (
            <>
              ended <Time at={stopped} />
            </>
          ) : (
            <>
              seen <Time at={seen} />, started <Time at={started} />
            </>
          )}
        </Text>
      </div>
    ),
  },
  {
    label: 'Encoder',
    width: 160,
    render: ({ video_encoder: encoder, scratch_free_bytes: free }) => (
      <div>
        {describeEncoder(encoder)}
        {free !== null && (
          <Text size="xs" c="dimmed">
            {formatBytes(free)} free for files
          </Text>
        )}
      </div>
    ),
  },
  { label: 'Runs', width: 190, render: (worker) => <RunningJobs worker={worker} /> },
  {
    label: 'Action',
    width: 100,
    render: ({ id, host, state, roles }) =>
      state === 'live' && roles.includes('worker') ? (
        <ConfirmButton
          label="Drain"
          name={`Drain ${host}`}
          title="Drain this process?"
          confirm="Drain"
          action={() => drainWorker(id)}
        >
          {host} ends the jobs that it runs and takes no further one until it is restarted. If it is the only
          worker, uploads are no longer processed.
        </ConfirmButton>
      ) : null,
  },
];

/** x264 runs on the processor; every other encoder is hardware. */
function describeEncoder(encoder: string | null): string {
  if (encoder === null) return 'No encoder';
  return encoder === 'x264' ? 'x264, no GPU' : `${encoder} (GPU)`;
}

const RunningJobs = ({ worker: { running_jobs: jobs } }: { readonly worker: WorkerProcess }) =>
  jobs.length === 0 ? (
    <Text size="sm" c="dimmed">
      Nothing
    </Text>
  ) : (
    <Group gap={4}>
      {jobs.map(({ id, queue, asset_id: asset }) =>
        asset === null ? (
          <Text key={id} size="sm">
            {queue}
          </Text>
        ) : (
          <Anchor key={id} component={Link} href={`/assets/${asset}`} size="sm">
            {queue}
          </Anchor>
        ),
      )}
    </Group>
  );
