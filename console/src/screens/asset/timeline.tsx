// What happened to the asset, in sentences, with the raw data one click away.
import type { Asset, TimelineEntry } from '@mediary/client';
import { Alert, Button, Code, Paper, Text, Timeline as Track, Title, UnstyledButton } from '@mantine/core';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { isMoving, timelineQuery } from '../../api/assets.ts';
import { formatLatency } from '../../parts/format.ts';
import { Problem } from '../../parts/problem.tsx';
import { Time } from '../../parts/time.tsx';

export function Timeline({ asset }: { readonly asset: Asset }) {
  const timeline = useInfiniteQuery({
    // Another version has another last entry.
    ...timelineQuery(asset.id, asset.updated_at),
    placeholderData: keepPreviousData,
    enabled: asset.deleted_at === null,
    refetchInterval: isMoving(asset) ? 1500 : false,
  });
  const entries = timeline.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <Paper withBorder p="md" component="section" aria-label="Timeline">
      <Title order={2} size="h4" mb="sm">
        Timeline
      </Title>
      {asset.deleted_at !== null && <Alert color="gray">The timeline is shown again after a restore.</Alert>}
      {timeline.error && <Problem error={timeline.error} onRetry={() => void timeline.refetch()} />}
      <Track active={entries.length} bulletSize={14} lineWidth={2}>
        {entries.map((entry) => (
          <Track.Item key={entry.id} color={colorOf(entry)}>
            <Entry entry={entry} />
          </Track.Item>
        ))}
      </Track>
      {timeline.hasNextPage && (
        <Button variant="default" mt="sm" onClick={() => void timeline.fetchNextPage()}>
          Show more
        </Button>
      )}
    </Paper>
  );
}

function colorOf({ type }: TimelineEntry): string {
  if (type.endsWith('failed')) return 'red';
  if (type.endsWith('ready') || type.endsWith('playable')) return 'teal';
  return 'sea';
}

/** Sentences name times in UTC. */
const withLocalTimes = (sentence: string): string =>
  sentence.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (time) => new Date(time).toLocaleString());

function Entry({ entry }: { readonly entry: TimelineEntry }) {
  const { sentence, at, source, latency_ms: latency, details } = entry;
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Text size="sm" className="break-anywhere">
        {withLocalTimes(sentence)}
      </Text>
      <Text size="xs" c="dimmed">
        <Time at={at} /> · by {source}
        {latency !== null && ` · after ${formatLatency(latency)}`} ·{' '}
        <UnstyledButton fz="xs" td="underline" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'hide details' : 'details'}
        </UnstyledButton>
      </Text>
      {isOpen && (
        <Code block mt={4} tabIndex={0}>
          {JSON.stringify({ type: entry.type, attempt: entry.attempt, ...details }, undefined, 2)}
        </Code>
      )}
    </>
  );
}
