// A button that changes something at once, and tells what came of it.
import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useOperatorAction } from '../api/operators.ts';
import { showError } from './use-action.ts';

type ActionProps = {
  readonly label: string;
  /** Where several rows have one. */
  readonly name?: string;
  /** Shown when the service has accepted it. */
  readonly done: string;
  readonly action: () => Promise<unknown>;
};

export function ActionButton({ label, name, done, action }: ActionProps) {
  const act = useOperatorAction(action, () => notifications.show({ message: done }));
  return (
    <Button
      size="xs"
      variant="default"
      aria-label={name}
      loading={act.isPending}
      onClick={() => act.mutate(undefined, { onError: showError })}
    >
      {label}
    </Button>
  );
}
