// What the service does now: encodes, jobs, queues and the processes that run them.
import { Stack, Text, Title } from '@mantine/core';
import { Encodes } from './encodes.tsx';
import { Jobs } from './jobs.tsx';
import { Queues } from './queues.tsx';
import { Workers } from './workers.tsx';

export const Work = () => (
  <Stack gap="lg">
    <div>
      <Title order={1} size="h2">
        Work
      </Title>
      <Text c="dimmed">What runs, what waits and what failed, of all processes.</Text>
    </div>
    <Encodes />
    <Jobs />
    <Queues />
    <Workers />
  </Stack>
);
