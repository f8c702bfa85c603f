// What happened to the asset, why, and what happens next; the raw report is one click away.
import type { Asset, TimelineEntry } from '@mediary/client';
import {
  Anchor,
  Button,
  Code,
  Group,
  Loader,
  Paper,
  Text,
  Timeline as Track,
  Title,
  UnstyledButton,
} from '@mantine/core';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { isMoving, timelineQuery } from '../../api/assets.ts';
import { formatLatency } from '../../parts/format.ts';
import { Problem } from '../../parts/problem.tsx';
import { Time } from '../../parts/time.tsx';
import { colorOf, explain, headingOf, nextCheckOf, tellNext } from './story.ts';

type TimelineProps = { readonly asset: Asset; readonly session: ConsoleSession };

export function Timeline({ asset, session }: TimelineProps) {
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
      <Group justify="space-between" mb="sm">
        <Title order={2} size="h4">
          Timeline
        </Title>
        {session.kind === 'operator' && (
          <Anchor component={Link} href={`/webhooks?asset_id=${asset.id}`} size="sm">
            Reports of the provider
          </Anchor>
        )}
      </Group>
      {timeline.error && <Problem error={timeline.error} onRetry={() => void timeline.refetch()} />}
      {timeline.isLoading && <Loader size="sm" aria-label="Reading the timeline" />}
      <Track active={entries.length} bulletSize={14} lineWidth={2}>
        {entries.map((entry) => (
          <Track.Item key={entry.id} color={colorOf(entry)} title={headingOf(entry)}>
            <Entry entry={entry} />
          </Track.Item>
        ))}
        {!timeline.hasNextPage && !timeline.isLoading && (
          <Track.Item title="Next" lineVariant="dashed">
            <Next asset={asset} entries={entries} />
          </Track.Item>
        )}
      </Track>
      {timeline.hasNextPage && (
        <Button
          variant="default"
          mt="sm"
          loading={timeline.isFetchingNextPage}
          onClick={() => void timeline.fetchNextPage()}
        >
          Show more
        </Button>
      )}
    </Paper>
  );
}

type NextProps = { readonly asset: Asset; readonly entries: readonly TimelineEntry[] };

const IS_CHECKED: readonly Asset['stream_status'][] = ['processing', 'failed'];

function Next({ asset, entries }: NextProps) {
  const now = Date.now();
  const check = IS_CHECKED.includes(asset.stream_status) ? nextCheckOf(entries, now) : undefined;
  return (
    <Text size="sm">
      {tellNext(asset, { entries, now })}
      {check !== undefined && (
        <>
          {' '}
          The service checks on it <Time at={check} />.
        </>
      )}
      {asset.expires_at !== null && (
        <>
          {' '}
          It is deleted for good <Time at={asset.expires_at} />.
        </>
      )}
    </Text>
  );
}

/** Sentences name times in UTC. */
const withLocalTimes = (sentence: string): string =>
  sentence.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (time) => new Date(time).toLocaleString());

function Entry({ entry }: { readonly entry: TimelineEntry }) {
  const { sentence, at, source, latency_ms: latency, details } = entry;
  const [isOpen, setOpen] = useState(false);
  const why = explain(entry);
  return (
    <>
      <Text size="sm" className="break-anywhere">
        {withLocalTimes(sentence)}
        {why !== undefined && ` ${why}`}
      </Text>
      <Text size="xs" c="dimmed">
        <Time at={at} /> · by {source}
        {latency !== null && ` · after ${formatLatency(latency)}`} ·{' '}
        <UnstyledButton fz="xs" td="underline" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'hide the raw report' : 'raw report'}
        </UnstyledButton>
      </Text>
      {isOpen && (
        <Code block mt={4} tabIndex={0} className="wrapped-code">
          {JSON.stringify({ type: entry.type, attempt: entry.attempt, ...details }, undefined, 2)}
        </Code>
      )}
    </>
  );
}
