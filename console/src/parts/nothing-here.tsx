// What an empty list says: what it would show, and what to do next.
import { Center, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

type NothingProps = {
  readonly title: string;
  readonly text: string;
  /** Nothing else is on the page, so that the title is its heading. */
  readonly isPage?: boolean;
  /** The next step, as a button or link. */
  readonly children?: ReactNode;
};

export const NothingHere = ({ title, text, isPage = false, children }: NothingProps) => (
  <Center mih={260}>
    <Stack align="center" gap="sm" maw={420}>
      <Title order={isPage ? 1 : 2} size="h4">
        {title}
      </Title>
      <Text c="dimmed" ta="center">
        {text}
      </Text>
      {children}
    </Stack>
  </Center>
);
