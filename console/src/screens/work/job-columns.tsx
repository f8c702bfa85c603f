// A job in the list: what it is for, why it failed, when it runs, and what people can do.
import { Anchor, Code, Group, Text } from '@mantine/core';
import type { Job } from '@mediary/contract/schemas/admin/jobs';
import { Link } from 'wouter';
import { cancelJob, runJobAgain } from '../../api/work.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import type { Column } from '../../parts/rows.tsx';
import { Time } from '../../parts/time.tsx';

export const JOB_COLUMNS: readonly Column<Job>[] = [
  {
    label: 'Job',
    render: ({ queue, asset_id: asset }) => (
      <div>
        {queue}
        {asset !== null && (
          <Text size="xs">
            <Anchor component={Link} href={`/assets/${asset}`}>
              Asset …{asset.slice(-12)}
            </Anchor>
          </Text>
        )}
      </div>
    ),
  },
  {
    label: 'Reason',
    width: '38%',
    render: ({ last_error: error }) =>
      error === null ? (
        <Text size="sm" c="dimmed">
          No run has failed
        </Text>
      ) : (
        <Text size="sm" component="div">
          {error.message} <Code>{error.code}</Code>
        </Text>
      ),
  },
  { label: 'Runs', width: 110, render: runsOf },
  { label: 'When', width: 150, render: (job) => <JobTime job={job} /> },
  { label: 'Action', width: 120, render: (job) => <JobActions job={job} /> },
];

/** An operator who runs a job again adds runs beyond the limit. */
function runsOf({ runs, max_runs: max }: Job): string {
  return runs > max ? `${runs}, beyond ${max}` : `${runs} of ${max}`;
}

function JobTime({ job }: { readonly job: Job }) {
  const { state, created_at: created, started_at: started, ended_at: ended, next_run_at: next } = job;
  if (state === 'delayed' && next !== null)
    return (
      <>
        runs <Time at={next} />
      </>
    );
  if (ended !== null) return <Time at={ended} />;
  if (state === 'active' && started !== null)
    return (
      <>
        since <Time at={started} />
      </>
    );
  return (
    <>
      created <Time at={created} />
    </>
  );
}

const JobActions = ({ job: { id, queue, state } }: { readonly job: Job }) => (
  <Group gap="xs">
    {(state === 'failed' || state === 'delayed') && (
      <ActionButton
        label={state === 'failed' ? 'Run again' : 'Run now'}
        name={`${state === 'failed' ? 'Run again' : 'Run now'}: ${queue} ${id}`}
        done={`${queue} runs again.`}
        action={() => runJobAgain(id)}
      />
    )}
    {state !== 'failed' && (
      <ConfirmButton
        label="Cancel"
        name={`Cancel ${queue} ${id}`}
        title="Cancel this job?"
        confirm="Cancel the job"
        action={() => cancelJob(id)}
      >
        An asset that waits for {queue} fails with the code “cancelled”, and its owner can try it again. The
        service refuses to cancel jobs that remove, protect or report something.
      </ConfirmButton>
    )}
  </Group>
);
