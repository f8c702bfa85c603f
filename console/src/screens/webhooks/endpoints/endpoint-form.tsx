// Creates an endpoint, or changes one; a new secret is shown once.
import type { UpdateEndpointRequest, WebhookEndpoint } from '@mediary/client';
import {
  Alert,
  Button,
  Checkbox,
  Code,
  CopyButton,
  Group,
  MultiSelect,
  Stack,
  TextInput,
} from '@mantine/core';
import { PUBLISHED_EVENT_TYPES, type PublishedEventType } from '@mediary/contract/enums';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { mediary } from '../../../api/mediary.ts';
import { Problem } from '../../../parts/problem.tsx';

type FormProps = {
  /** Undefined: a new one. */
  readonly endpoint: WebhookEndpoint | undefined;
  readonly onDone: () => void;
};

type Fields = {
  readonly url: string;
  readonly description: string;
  readonly events: PublishedEventType[];
  readonly enabled: boolean;
};

export function EndpointForm({ endpoint, onDone }: FormProps) {
  const queries = useQueryClient();
  const [fields, setFields] = useState<Fields>({
    url: endpoint?.url ?? '',
    description: endpoint?.description ?? '',
    events: [...(endpoint?.events ?? [])],
    enabled: endpoint?.enabled ?? true,
  });
  const [secret, setSecret] = useState<string>();
  const save = useMutation({
    mutationFn: () => saveEndpoint(endpoint, fields),
    onSuccess: (created) => (created === undefined ? onDone() : setSecret(created)),
    onSettled: () => queries.invalidateQueries({ queryKey: ['webhooks'] }),
  });
  if (secret !== undefined) return <NewSecret secret={secret} onDone={onDone} />;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <Stack component="form" onSubmit={submit}>
      <Inputs fields={fields} onChange={(members) => setFields({ ...fields, ...members })} />
      {save.error && <Problem error={save.error} />}
      <Button type="submit" loading={save.isPending}>
        {endpoint ? 'Save' : 'Create'}
      </Button>
    </Stack>
  );
}

/** Returns the secret of a new endpoint. */
async function saveEndpoint(
  endpoint: WebhookEndpoint | undefined,
  { url, description, events, enabled }: Fields,
): Promise<string | undefined> {
  const note = description.trim() === '' ? null : description;
  if (!endpoint) {
    const created = await mediary.webhookEndpoints.create({ url, description: note, events, enabled });
    return created.secret;
  }
  // `enabled: true` also ends a pause: it is sent only if somebody changed it.
  const changes: UpdateEndpointRequest = {
    url,
    description: note,
    events,
    ...(enabled !== endpoint.enabled && { enabled }),
  };
  await mediary.webhookEndpoints.update(endpoint.id, changes);
  return undefined;
}

type InputsProps = { readonly fields: Fields; readonly onChange: (members: Partial<Fields>) => void };

const Inputs = ({ fields: { url, description, events, enabled }, onChange }: InputsProps) => (
  <>
    <TextInput
      label="URL"
      description="Receives events as POST requests."
      placeholder="https://app.example.com/webhooks/media"
      value={url}
      onChange={({ currentTarget }) => onChange({ url: currentTarget.value })}
      type="url"
      required
    />
    <MultiSelect
      label="Events"
      description="None chosen: all."
      data={[...PUBLISHED_EVENT_TYPES]}
      value={events}
      onChange={(next) => onChange({ events: PUBLISHED_EVENT_TYPES.filter((type) => next.includes(type)) })}
      clearable
    />
    <TextInput
      label="Description"
      dir="auto"
      value={description}
      onChange={({ currentTarget }) => onChange({ description: currentTarget.value })}
      maxLength={500}
    />
    <Checkbox
      label="Enabled"
      description="A disabled endpoint gets no events."
      checked={enabled}
      onChange={({ currentTarget }) => onChange({ enabled: currentTarget.checked })}
    />
  </>
);

type SecretProps = { readonly secret: string; readonly onDone: () => void };

export const NewSecret = ({ secret, onDone }: SecretProps) => (
  <Stack>
    <Alert color="yellow" title="Copy the secret now">
      Your application verifies webhooks with it. It is not shown again; a lost one can be rotated.
    </Alert>
    <Code block tabIndex={0} className="wrapped-code">
      {secret}
    </Code>
    <Group>
      <CopyButton value={secret}>
        {({ copied, copy }) => <Button onClick={copy}>{copied ? 'Copied' : 'Copy the secret'}</Button>}
      </CopyButton>
      <Button variant="default" onClick={onDone}>
        Done
      </Button>
    </Group>
  </Stack>
);
