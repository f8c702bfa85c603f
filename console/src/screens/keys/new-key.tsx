// Creates a service key, and shows it once.
import { Alert, Button, Checkbox, Group, Modal, Stack, TagsInput, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ServiceScope } from '@mediary/contract/enums';
import type { CreateServiceKeyRequest, NewServiceKey } from '@mediary/contract/schemas/admin/service-keys';
import { type FormEvent, useState } from 'react';
import { useOperatorAction } from '../../api/operators.ts';
import { createServiceKey } from '../../api/service-keys.ts';
import { CopyText } from '../../parts/copy-text.tsx';
import { Problem } from '../../parts/problem.tsx';

export function NewKey() {
  const [isOpen, { open, close }] = useDisclosure(false);
  const [created, setCreated] = useState<NewServiceKey>();
  const forget = () => {
    close();
    setCreated(undefined);
  };
  return (
    <>
      <Button size="xs" onClick={open}>
        Create a key
      </Button>
      <Modal
        opened={isOpen}
        onClose={forget}
        title={created ? 'Copy the key now' : 'Create a service key'}
        centered
        // A key that is lost by a click beside it cannot be shown again.
        closeOnClickOutside={!created}
        closeOnEscape={!created}
      >
        {created ? <Created created={created} close={forget} /> : <KeyForm onCreated={setCreated} />}
      </Modal>
    </>
  );
}

type CreatedProps = { readonly created: NewServiceKey; readonly close: () => void };

const Created = ({ created: { name, key }, close }: CreatedProps) => (
  <Stack>
    <Alert color="sea" title="It is shown only once">
      Store the key of <bdi className="break-anywhere">{name}</bdi> where its back end reads it. Nobody can
      read it here again.
    </Alert>
    <CopyText label="the key" text={key} />
    <Group justify="flex-end">
      <Button onClick={close}>I have copied it</Button>
    </Group>
  </Stack>
);

const SCOPES: readonly { readonly value: ServiceScope; readonly label: string; readonly about: string }[] = [
  { value: 'read', label: 'Read', about: 'Reads assets, playback and usage.' },
  { value: 'write', label: 'Write', about: 'Creates, changes and deletes assets.' },
  { value: 'webhooks', label: 'Webhooks', about: 'Manages webhook endpoints, of all owners.' },
  { value: 'legal_hold', label: 'Legal hold', about: 'Sets and releases legal holds.' },
];

type Draft = {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly prefixes: readonly string[];
  readonly expires: string;
};

function KeyForm({ onCreated }: { readonly onCreated: (key: NewServiceKey) => void }) {
  const [draft, setDraft] = useState<Draft>({ name: '', scopes: ['read'], prefixes: [], expires: '' });
  const create = useOperatorAction(() => createServiceKey(toRequest(draft)), onCreated);
  const set = (members: Partial<Draft>) => setDraft({ ...draft, ...members });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label="Name"
          description="Of the back end that uses it."
          value={draft.name}
          onChange={({ currentTarget }) => set({ name: currentTarget.value })}
          maxLength={100}
          required
          data-autofocus
        />
        <Checkbox.Group
          label="What it may do"
          value={[...draft.scopes]}
          onChange={(scopes) => set({ scopes })}
          required
        >
          <Stack gap="xs" mt="xs">
            {SCOPES.map(({ value, label, about }) => (
              <Checkbox key={value} value={value} label={label} description={about} />
            ))}
          </Stack>
        </Checkbox.Group>
        <TagsInput
          label="Only owners whose id starts with"
          description="Press Enter after each. Empty: all owners."
          value={[...draft.prefixes]}
          onChange={(prefixes) => set({ prefixes })}
          maxTags={100}
        />
        <TextInput
          type="datetime-local"
          label="Expires"
          description="Empty: never."
          value={draft.expires}
          onChange={({ currentTarget }) => set({ expires: currentTarget.value })}
        />
        {create.error && <Problem error={create.error} />}
        <Group justify="flex-end">
          <Button type="submit" loading={create.isPending} disabled={draft.scopes.length === 0}>
            Create
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

const toRequest = ({ name, scopes, prefixes, expires }: Draft): CreateServiceKeyRequest => ({
  name,
  scopes: SCOPES.map(({ value }) => value).filter((scope) => scopes.includes(scope)),
  owner_prefixes: [...prefixes],
  expires_at: expires === '' ? null : new Date(expires).toISOString(),
});
