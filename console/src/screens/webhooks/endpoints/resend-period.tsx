// Sends the events of a period again.
import type { WebhookEndpoint } from '@mediary/client';
import { Alert, Button, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { mediary } from '../../../api/mediary.ts';
import { formatCountOf } from '../../../parts/format.ts';
import { Problem } from '../../../parts/problem.tsx';

type PeriodProps = { readonly endpoint: WebhookEndpoint; readonly onDone: () => void };

const HOUR_MS = 3_600_000;

/** As inputs for local times take it. */
function toLocal(ms: number): string {
  const local = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

export function ResendPeriod({ endpoint, onDone }: PeriodProps) {
  const queries = useQueryClient();
  const [since, setSince] = useState(() => toLocal(Date.now() - HOUR_MS));
  const [until, setUntil] = useState('');
  const resend = useMutation({
    mutationFn: () => resendAll(endpoint.id, { since, until }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['webhooks', 'sent'] }),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    resend.mutate();
  };
  return (
    <Stack component="form" onSubmit={submit}>
      <TextInput
        label="From"
        type="datetime-local"
        value={since}
        onChange={({ currentTarget }) => setSince(currentTarget.value)}
        required
      />
      <TextInput
        label="Until"
        description="Empty: now."
        type="datetime-local"
        value={until}
        onChange={({ currentTarget }) => setUntil(currentTarget.value)}
      />
      {resend.error && <Problem error={resend.error} />}
      {resend.isSuccess ? (
        <>
          <Alert color="teal" role="status">
            {resend.data === 0
              ? 'No event of this period is to be sent again.'
              : `${formatCountOf(resend.data, 'event is', 'events are')} sent again.`}
          </Alert>
          <Button onClick={onDone}>Done</Button>
        </>
      ) : (
        <Button type="submit" loading={resend.isPending}>
          Resend
        </Button>
      )}
    </Stack>
  );
}

type Period = { readonly since: string; readonly until: string };

/** The service schedules at most 10,000 events for each request. Returns how many were scheduled. */
async function resendAll(id: string, { since, until }: Period): Promise<number> {
  const end = new Date(until === '' ? Date.now() : until).toISOString();
  let scheduled = 0;
  let next: string | null = new Date(since).toISOString();
  while (next !== null) {
    const page: { scheduled: number; next_since: string | null } =
      await mediary.webhookEndpoints.resendEvents(id, {
        since: next,
        until: end,
      });
    scheduled += page.scheduled;
    next = page.next_since;
  }
  return scheduled;
}
