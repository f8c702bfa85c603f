// A button that asks before it changes something, and shows what the service refuses.
import { Button, type ButtonProps, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useOperatorAction } from '../api/operators.ts';
import { Problem } from './problem.tsx';

type ConfirmProps<T> = {
  /** Of the button, and its name where several rows have one. */
  readonly label: string;
  readonly name?: string;
  readonly title: string;
  readonly children: ReactNode;
  readonly confirm: string;
  /** What people must type first. */
  readonly typed?: string;
  readonly action: () => Promise<T>;
  readonly onDone?: (result: T) => void;
  readonly button?: ButtonProps;
};

export function ConfirmButton<T>(props: ConfirmProps<T>) {
  const { label, name, title, button } = props;
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button size="xs" variant="default" aria-label={name} onClick={open} {...button}>
        {label}
      </Button>
      <Modal opened={isOpen} onClose={close} title={title} centered>
        <Question {...props} close={close} />
      </Modal>
    </>
  );
}

function Question<T>(props: ConfirmProps<T> & { readonly close: () => void }) {
  const { children, confirm, typed, action, onDone, close } = props;
  const [text, setText] = useState('');
  const act = useOperatorAction(action, (result) => {
    close();
    onDone?.(result);
  });
  const isConfirmed = typed === undefined || text === typed;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isConfirmed) act.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm" className="break-anywhere" component="div">
          {children}
        </Text>
        {typed !== undefined && (
          <TextInput
            label="Type the id of the owner to confirm"
            description={<bdi className="break-anywhere">{typed}</bdi>}
            value={text}
            onChange={({ currentTarget }) => setText(currentTarget.value)}
            autoComplete="off"
            spellCheck={false}
            data-autofocus
          />
        )}
        {act.error && <Problem error={act.error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close}>
            Back
          </Button>
          <Button type="submit" color="red.9" loading={act.isPending} disabled={!isConfirmed}>
            {confirm}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
