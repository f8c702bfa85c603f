// Running and waiting encodes.
import { Anchor, Badge, Progress, Stack, Text } from '@mantine/core';
import type { EncodeQueue } from '@mediary/contract/schemas/encodes';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { cancelEncode, encodesQuery } from '../../api/work.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { formatCount, formatDuration } from '../../parts/format.ts';
import { type Column, Rows, ShowMore } from '../../parts/rows.tsx';
import { Loaded, Section } from '../../parts/section.tsx';
import { Time } from '../../parts/time.tsx';

type Encode = EncodeQueue['items'][number];

export function Encodes() {
  const query = useInfiniteQuery(encodesQuery);
  const [first] = query.data?.pages ?? [];
  return (
    <Section
      title="Encodes"
      about={first && `${formatCount(first.running)} running, ${formatCount(first.waiting)} waiting`}
    >
      <Loaded query={query}>
        {({ pages }) => (
          <Rows
            label="Encodes"
            rows={pages.flatMap(({ items }) => items)}
            keyOf={({ asset_id: id }) => id}
            columns={COLUMNS}
            empty={
              <>
                No encode runs or waits.{' '}
                <Anchor component={Link} href="/" underline="always">
                  Upload a video
                </Anchor>{' '}
                to see one.
              </>
            }
          />
        )}
      </Loaded>
      <ShowMore query={query} />
    </Section>
  );
}

const COLUMNS: readonly Column<Encode>[] = [
  {
    label: 'Video',
    render: ({ asset_id: id, filename, owner_user_id: owner, duration_ms: duration }) => (
      <div>
        <Anchor component={Link} href={`/assets/${id}`} size="sm" dir="auto">
          {filename}
        </Anchor>
        <Text size="xs" c="dimmed">
          <bdi>{owner}</bdi>
          {duration !== null && ` · ${formatDuration(duration)}`}
        </Text>
      </div>
    ),
  },
  { label: 'State', width: 190, render: (encode) => <EncodeState encode={encode} /> },
  {
    label: 'Where',
    width: 190,
    render: ({ worker, queued_at: queued, started_at: started }) => (
      <Text size="sm" component="div">
        {worker ?? 'No worker yet'}
        <Text size="xs" c="dimmed">
          {started === null ? 'queued' : 'started'} <Time at={started ?? queued} />
        </Text>
      </Text>
    ),
  },
  {
    label: 'Action',
    width: 110,
    render: ({ asset_id: id, filename }) => (
      <ConfirmButton
        label="Cancel"
        name={`Cancel the encode of ${filename}`}
        title="Cancel this encode?"
        confirm="Cancel the encode"
        action={() => cancelEncode(id)}
      >
        <bdi>{filename}</bdi> fails with the code “cancelled”. Its owner can try it again.
      </ConfirmButton>
    ),
  },
];

const EncodeState = ({
  encode: { state, phase, position, progress, filename },
}: {
  readonly encode: Encode;
}) =>
  state === 'running' ? (
    <Stack gap={4}>
      <Text size="sm">
        {phase === 'first' ? 'Until it plays' : 'Other renditions'}, {progress} %
      </Text>
      <Progress value={progress} aria-label={`Encoding of ${filename}`} />
    </Stack>
  ) : (
    <Badge variant="dot" color="gray">
      {position === null ? 'Waits' : `Number ${formatCount(position)} in line`}
    </Badge>
  );
