// What people do with an endpoint: edit, test, rotate its secret, resend, pause and delete.
import type { WebhookEndpoint } from '@mediary/client';
import { Alert, Button, Code, Group, Modal, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { mediary } from '../../../api/mediary.ts';
import { formatLatency } from '../../../parts/format.ts';
import { Problem } from '../../../parts/problem.tsx';
import { EndpointForm, NewSecret } from './endpoint-form.tsx';
import { ResendPeriod } from './resend-period.tsx';

type ActionProps = { readonly endpoint: WebhookEndpoint };
type DialogProps = ActionProps & { readonly onDone: () => void };

const TITLES = {
  edit: 'Change the endpoint',
  rotate: 'Rotate the secret',
  resend: 'Resend events',
  delete: 'Delete the endpoint',
} as const;
type DialogName = keyof typeof TITLES;

export function EndpointActions({ endpoint }: ActionProps) {
  const queries = useQueryClient();
  const [dialog, setDialog] = useState<DialogName>();
  const close = (): void => setDialog(undefined);
  const test = useMutation({ mutationFn: () => mediary.webhookEndpoints.test(endpoint.id) });
  const isOn = endpoint.status === 'enabled';
  const toggle = useMutation({
    mutationFn: () => mediary.webhookEndpoints.update(endpoint.id, { enabled: !isOn }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['webhooks'] }),
  });
  const error = test.error ?? toggle.error;
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <Button loading={test.isPending} onClick={() => test.mutate()}>
          Send a test event
        </Button>
        <Button variant="default" onClick={() => setDialog('edit')}>
          Change
        </Button>
        <Button variant="default" loading={toggle.isPending} onClick={() => toggle.mutate()}>
          {isOn ? 'Disable' : endpoint.status === 'paused' ? 'Resume' : 'Enable'}
        </Button>
        <Button variant="default" onClick={() => setDialog('resend')}>
          Resend a period
        </Button>
        <Button variant="default" onClick={() => setDialog('rotate')}>
          Rotate the secret
        </Button>
        <Button variant="subtle" color="red" onClick={() => setDialog('delete')}>
          Delete
        </Button>
      </Group>
      {error && <Problem error={error} />}
      {test.data && <TestResult result={test.data} />}
      <Modal
        opened={dialog !== undefined}
        onClose={close}
        title={dialog && TITLES[dialog]}
        closeButtonProps={{ 'aria-label': 'Close' }}
        closeOnClickOutside={dialog !== 'rotate'}
      >
        {dialog === 'edit' && <EndpointForm endpoint={endpoint} onDone={close} />}
        {dialog === 'rotate' && <RotateSecret endpoint={endpoint} onDone={close} />}
        {dialog === 'resend' && <ResendPeriod endpoint={endpoint} onDone={close} />}
        {dialog === 'delete' && <DeleteEndpoint endpoint={endpoint} onDone={close} />}
      </Modal>
    </Stack>
  );
}

type TestOutcome = Awaited<ReturnType<typeof mediary.webhookEndpoints.test>>;

const TestResult = ({ result: { delivered, attempt } }: { readonly result: TestOutcome }) => (
  <Alert
    color={delivered ? 'teal' : 'red'}
    title={delivered ? 'The endpoint accepted the test event' : 'The endpoint did not accept the test event'}
    role="status"
  >
    <Text size="sm" className="break-anywhere">
      {attempt.status === null ? attempt.error : `Status ${attempt.status}`} after{' '}
      {formatLatency(attempt.latency_ms)}
    </Text>
    {attempt.response_head && (
      <Code block mt="xs" tabIndex={0} className="wrapped-code">
        {attempt.response_head}
      </Code>
    )}
  </Alert>
);

function RotateSecret({ endpoint, onDone }: DialogProps) {
  const queries = useQueryClient();
  const rotate = useMutation({
    mutationFn: () => mediary.webhookEndpoints.rotateSecret(endpoint.id),
    onSettled: () => queries.invalidateQueries({ queryKey: ['webhooks', 'endpoint'] }),
  });
  if (rotate.data) return <NewSecret secret={rotate.data.secret} onDone={onDone} />;
  return (
    <Stack>
      <Text>The service then signs with a new secret. For 24 hours the previous one signs too.</Text>
      {rotate.error && <Problem error={rotate.error} />}
      <Group>
        <Button loading={rotate.isPending} onClick={() => rotate.mutate()}>
          Rotate
        </Button>
        <Button variant="default" onClick={onDone}>
          Keep the secret
        </Button>
      </Group>
    </Stack>
  );
}

function DeleteEndpoint({ endpoint, onDone }: DialogProps) {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const remove = useMutation({
    mutationFn: () => mediary.webhookEndpoints.delete(endpoint.id),
    onSuccess: () => {
      navigate('/webhooks/endpoints');
      queries.removeQueries({ queryKey: ['webhooks', 'endpoint', endpoint.id] });
      void queries.invalidateQueries({ queryKey: ['webhooks', 'endpoints'] });
    },
  });
  return (
    <Stack>
      <Text className="break-anywhere">
        {endpoint.url} gets no more events. Its secret and its deliveries are deleted too.
      </Text>
      {remove.error && <Problem error={remove.error} />}
      <Group>
        <Button color="red" loading={remove.isPending} onClick={() => remove.mutate()}>
          Delete
        </Button>
        <Button variant="default" onClick={onDone}>
          Keep
        </Button>
      </Group>
    </Stack>
  );
}
