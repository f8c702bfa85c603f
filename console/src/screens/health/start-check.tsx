// Starts a storage check; it changes nothing unless people ask for it.
import { Button, Checkbox, Group, Modal, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { startCheck } from '../../api/health.ts';
import { useOperatorAction } from '../../api/operators.ts';
import { Problem } from '../../parts/problem.tsx';

export function StartCheck({ isRunning }: { readonly isRunning: boolean }) {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button size="xs" onClick={open} disabled={isRunning}>
        {isRunning ? 'A check runs' : 'Start a check'}
      </Button>
      <Modal opened={isOpen} onClose={close} title="Start a storage check" centered>
        <CheckForm close={close} />
      </Modal>
    </>
  );
}

function CheckForm({ close }: { readonly close: () => void }) {
  const [checksums, setChecksums] = useState(false);
  const [repair, setRepair] = useState(false);
  const start = useOperatorAction(() => startCheck({ checksums, repair }), close);
  return (
    <Stack>
      <Checkbox
        label="Read every original and compare its SHA-256"
        description="Takes as long as reading all stored originals."
        checked={checksums}
        onChange={({ currentTarget }) => setChecksums(currentTarget.checked)}
      />
      <Checkbox
        label="Repair what it finds"
        description="Deletes orphaned objects, and fails assets whose files are lost. It keeps every only copy."
        checked={repair}
        onChange={({ currentTarget }) => setRepair(currentTarget.checked)}
      />
      {start.error && <Problem error={start.error} />}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={close}>
          Close
        </Button>
        <Button color={repair ? 'red.9' : 'sea'} loading={start.isPending} onClick={() => start.mutate()}>
          {repair ? 'Start and repair' : 'Start'}
        </Button>
      </Group>
    </Stack>
  );
}
