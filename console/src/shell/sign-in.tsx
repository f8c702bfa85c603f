// The page of those who are not signed in: by the link of the start message, or by a key or token.
import {
  Anchor,
  Box,
  Button,
  Center,
  Paper,
  PasswordInput,
  SegmentedControl,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import type { CreateSessionRequest } from '@mediary/contract/schemas/admin/console';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { SERVICE_URL } from '../api/mediary.ts';
import { sessionEndedQuery, useSignIn } from '../api/session.ts';
import { Problem } from '../parts/problem.tsx';
import { Brand } from './brand.tsx';

const WAYS = [
  { value: 'operator_key', label: 'Operator key' },
  { value: 'service_key', label: 'Service key' },
  { value: 'access_token', label: 'Access token' },
] as const;
type Way = (typeof WAYS)[number]['value'];

const ABOUT: Readonly<Record<Way, string>> = {
  operator_key: 'For the people who run the service. It is OPERATOR_KEY, or in secrets.json of DATA_DIR.',
  service_key: 'For developers of the application: everything that its back end may do.',
  access_token: 'For a user: the assets of that user.',
};

export function SignIn() {
  const signIn = useSignIn();
  useCodeOfLink(signIn.mutate);
  const { data: hasEnded } = useQuery(sessionEndedQuery);
  return (
    <Center mih="100dvh" p="md">
      <Paper withBorder p={{ base: 'md', xs: 'xl' }} w={440} maw="100%" component="main">
        <Stack>
          <Brand />
          <Title order={1} size="h3">
            Sign in to the console
          </Title>
          {hasEnded && (
            <Text size="sm" role="status">
              Your session has ended. Sign in again to go on where you were.
            </Text>
          )}
          {signIn.error && <Problem error={signIn.error} />}
          <Credentials isPending={signIn.isPending} onSubmit={signIn.mutate} />
          <Text size="sm" c="dimmed">
            An operator creates a sign-in link with <code>mediary console</code>. The API is described in the{' '}
            <Anchor href={`${SERVICE_URL}/docs`} underline="always">
              reference
            </Anchor>
            .
          </Text>
        </Stack>
      </Paper>
    </Center>
  );
}

type CredentialsProps = {
  readonly isPending: boolean;
  readonly onSubmit: (credentials: CreateSessionRequest) => void;
};

function Credentials({ isPending, onSubmit }: CredentialsProps) {
  const [way, setWay] = useState<Way>('operator_key');
  const [secret, setSecret] = useState('');
  const [owner, setOwner] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit({ [way]: secret.trim(), ...(way === 'service_key' && { owner_user_id: owner }) });
  };
  const label = WAYS.find(({ value }) => value === way)?.label ?? '';
  return (
    <Box component="form" onSubmit={submit}>
      <Stack>
        <SegmentedControl
          fullWidth
          size="xs"
          data={[...WAYS]}
          value={way}
          onChange={(value) => setWay(value as Way)}
          aria-label="Sign in by"
        />
        <PasswordInput
          label={label}
          description={ABOUT[way]}
          value={secret}
          onChange={({ currentTarget }) => setSecret(currentTarget.value)}
          autoComplete="off"
          required
        />
        {way === 'service_key' && (
          <TextInput
            label="Owner"
            description="The user whose library you want to see first."
            value={owner}
            onChange={({ currentTarget }) => setOwner(currentTarget.value)}
            required
          />
        )}
        <Button type="submit" loading={isPending}>
          Sign in
        </Button>
      </Stack>
    </Box>
  );
}

/** A code works once, and is removed from the address at once, so that nobody copies it. */
function useCodeOfLink(signIn: (credentials: CreateSessionRequest) => void): void {
  const isUsed = useRef(false);
  useEffect(() => {
    const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
    if (code === undefined || isUsed.current) return;
    isUsed.current = true;
    history.replaceState(null, '', location.pathname + location.search);
    signIn({ code });
  }, [signIn]);
}
