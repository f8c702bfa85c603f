// Creates a collection of an owner, and goes to it.
import { Button, Modal, Stack, Switch, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { refreshAssets } from '../../api/assets.ts';
import { toOwner } from '../../api/collections.ts';
import { mediary } from '../../api/mediary.ts';
import { Problem } from '../../parts/problem.tsx';

type NewProps = { readonly session: ConsoleSession; readonly owner: string };

export function NewCollection(props: NewProps) {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button onClick={open}>Create a collection</Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title="Create a collection"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <CollectionForm {...props} />
      </Modal>
    </>
  );
}

function CollectionForm({ session, owner }: NewProps) {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const [name, setName] = useState('');
  const [isPublic, setPublic] = useState(false);
  const create = useMutation({
    mutationFn: () =>
      mediary.collections.create(
        { name, visibility: isPublic ? 'public' : 'private' },
        toOwner(session, owner),
      ),
    onSuccess: ({ id }) => navigate(`/collections/${id}`),
    onSettled: () => refreshAssets(queries),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <Stack component="form" onSubmit={submit}>
      <TextInput
        label="Name"
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        maxLength={255}
        required
        data-autofocus
      />
      <Switch
        label="Public: anybody with the id can read its playlist"
        checked={isPublic}
        onChange={({ currentTarget }) => setPublic(currentTarget.checked)}
      />
      {create.error && <Problem error={create.error} />}
      <Button type="submit" loading={create.isPending}>
        Create
      </Button>
    </Stack>
  );
}
