// How far a change of many assets is, and which of them failed.
import { Alert, Button, Group, List, Progress, Stack, Text } from '@mantine/core';
import { formatCountOf } from '../../../parts/format.ts';
import { describe } from '../../../parts/problem.tsx';
import type { Bulk, BulkRun } from './use-bulk.ts';

export function BulkProgress({ bulk }: { readonly bulk: Bulk }) {
  const { run } = bulk;
  if (!run) return null;
  const { total, done, failures, isRunning } = run;
  const tried = done + failures.length;
  return (
    <Alert
      color={failures.length > 0 ? 'red' : isRunning ? 'blue' : 'teal'}
      aria-label="Progress of the change"
    >
      <Stack gap="xs">
        <Text size="sm" role="status">
          {isRunning ? `${tried} of ${total}…` : tellResult(run)}
        </Text>
        {isRunning && <Progress value={(100 * tried) / total} animated aria-label="Changed assets" />}
        {failures.length > 0 && <Failures failures={failures} />}
        <Group gap="xs">
          {isRunning && (
            <Button size="xs" variant="default" onClick={bulk.stop}>
              Stop
            </Button>
          )}
          {!isRunning && failures.length > 0 && (
            <Button
              size="xs"
              onClick={() =>
                bulk.start(
                  failures.map(({ asset }) => asset),
                  run.action,
                )
              }
            >
              Try the failed ones again
            </Button>
          )}
          {!isRunning && (
            <Button size="xs" variant="default" onClick={bulk.dismiss}>
              Close
            </Button>
          )}
        </Group>
      </Stack>
    </Alert>
  );
}

function tellResult({ total, done, failures, isStopped, action }: BulkRun): string {
  const result = `${done} of ${formatCountOf(total, 'asset was', 'assets were')} ${action.participle}.`;
  const failed =
    failures.length === 0
      ? ''
      : ` ${formatCountOf(failures.length, 'failed, and stayed as it was', 'failed, and stayed as they were')}:`;
  const untried = isStopped ? total - done - failures.length : 0;
  const skipped = untried === 0 ? '' : ` ${formatCountOf(untried, 'was', 'were')} not tried.`;
  return `${result}${skipped}${failed}`;
}

const MAX_SHOWN = 50;

const Failures = ({ failures }: Pick<BulkRun, 'failures'>) => (
  <>
    <List size="sm">
      {failures.slice(0, MAX_SHOWN).map(({ asset, error }) => {
        const { message, requestId } = describe(error);
        return (
          <List.Item key={asset.id} className="break-anywhere">
            <bdi>{asset.title ?? asset.filename}</bdi>: {message}
            {requestId !== undefined && ` (request ${requestId})`}
          </List.Item>
        );
      })}
    </List>
    {failures.length > MAX_SHOWN && <Text size="sm">and {failures.length - MAX_SHOWN} more.</Text>}
  </>
);
