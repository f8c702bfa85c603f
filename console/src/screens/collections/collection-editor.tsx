// Creates a collection of an owner, or changes what people read about one.
import { Button, Modal, Stack, Switch, Textarea, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { Collection } from '@mediary/client';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import { refreshAssets } from '../../api/assets.ts';
import { toOwner } from '../../api/collections.ts';
import { mediary } from '../../api/mediary.ts';
import { Problem } from '../../parts/problem.tsx';

type Description = Pick<Collection, 'name' | 'description' | 'visibility'>;

type NewProps = { readonly session: ConsoleSession; readonly owner: string };

/** Goes to the collection afterwards. */
export function NewCollection({ session, owner }: NewProps) {
  const [, navigate] = useLocation();
  return (
    <Dialog label="Create a collection" variant="filled">
      {() => (
        <CollectionForm
          initial={{ name: '', description: null, visibility: 'private' }}
          submit="Create"
          save={(described) => mediary.collections.create(described, toOwner(session, owner))}
          onSaved={({ id }) => navigate(`/collections/${id}`)}
        />
      )}
    </Dialog>
  );
}

type EditProps = { readonly session: ConsoleSession; readonly collection: Collection };

export function EditCollection({ session, collection }: EditProps) {
  const { id, owner_user_id: owner } = collection;
  return (
    <Dialog label="Edit" title="Edit the collection" variant="default">
      {(close) => (
        <CollectionForm
          initial={collection}
          submit="Save"
          save={(described) => mediary.collections.update(id, described, toOwner(session, owner))}
          onSaved={close}
        />
      )}
    </Dialog>
  );
}

type DialogProps = {
  readonly label: string;
  /** Default: the label. */
  readonly title?: string;
  readonly variant: 'filled' | 'default';
  readonly children: (close: () => void) => ReactNode;
};

function Dialog({ label, title = label, variant, children }: DialogProps) {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button onClick={open} variant={variant}>
        {label}
      </Button>
      <Modal opened={isOpen} onClose={close} title={title} closeButtonProps={{ 'aria-label': 'Close' }}>
        {children(close)}
      </Modal>
    </>
  );
}

type FormProps = {
  readonly initial: Description;
  readonly submit: string;
  readonly save: (described: Description) => Promise<Collection>;
  readonly onSaved: (collection: Collection) => void;
};

function CollectionForm({ initial, submit, save, onSaved }: FormProps) {
  const queries = useQueryClient();
  const [name, setName] = useState(initial.name);
  const [description, setDescription] = useState(initial.description ?? '');
  const [isPublic, setPublic] = useState(initial.visibility === 'public');
  const change = useMutation({
    mutationFn: () =>
      save({
        name,
        description: description === '' ? null : description,
        visibility: isPublic ? 'public' : 'private',
      }),
    onSuccess: onSaved,
    onSettled: () => refreshAssets(queries),
  });
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault();
    change.mutate();
  };
  return (
    <Stack component="form" onSubmit={onSubmit}>
      <TextInput
        label="Name"
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        maxLength={255}
        required
        data-autofocus
      />
      <Textarea
        label="Description"
        value={description}
        onChange={({ currentTarget }) => setDescription(currentTarget.value)}
        maxLength={2000}
        autosize
        minRows={2}
        maxRows={6}
      />
      <Switch
        label="Public: anybody with the id can read its playlist"
        checked={isPublic}
        onChange={({ currentTarget }) => setPublic(currentTarget.checked)}
      />
      {change.error && <Problem error={change.error} />}
      <Button type="submit" loading={change.isPending}>
        {submit}
      </Button>
    </Stack>
  );
}
