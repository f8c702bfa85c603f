// A part of a screen: its title, what it shows, and the state of the query behind it.
import { Group, Paper, Skeleton, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Problem } from './problem.tsx';

type SectionProps = {
  readonly title: string;
  readonly about?: ReactNode;
  /** Buttons and filters beside the title. */
  readonly aside?: ReactNode;
  readonly children: ReactNode;
};

export const Section = ({ title, about, aside, children }: SectionProps) => (
  <Paper withBorder p="md" component="section" aria-label={title}>
    <Stack gap="sm">
      <Group justify="space-between" align="flex-start" gap="sm">
        <div>
          <Title order={2} size="h4">
            {title}
          </Title>
          {about && (
            <Text size="sm" c="dimmed">
              {about}
            </Text>
          )}
        </div>
        {aside && <Group gap="xs">{aside}</Group>}
      </Group>
      {children}
    </Stack>
  </Paper>
);

type Answer<T> = {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly refetch: () => unknown;
};

type LoadedProps<T> = { readonly query: Answer<T>; readonly children: (data: T) => ReactNode };

/** What was read before stays in view when a later request fails. */
export function Loaded<T>({ query: { data, error, refetch }, children }: LoadedProps<T>) {
  return (
    <>
      {error !== null && error !== undefined && <Problem error={error} onRetry={() => void refetch()} />}
      {data !== undefined && children(data)}
      {data === undefined && !error && <Waiting />}
    </>
  );
}

const Waiting = () => (
  <Stack gap="xs" role="status" aria-label="Loading">
    <Skeleton height={20} />
    <Skeleton height={20} />
    <Skeleton height={20} width="60%" />
  </Stack>
);
