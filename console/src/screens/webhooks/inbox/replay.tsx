// Replays webhooks: first a dry run that says what would change, then the change.
import { Anchor, Badge, Button, Group, Loader, Paper, Stack, Text, Title } from '@mantine/core';
import { DELIVERY_REASONS } from '@mediary/contract/enums';
import type { ReplayResult } from '@mediary/contract/schemas/admin/operators';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { refreshAssets } from '../../../api/assets.ts';
import { type InboxFilters, replayDeliveries } from '../../../api/webhooks.ts';
import { formatCountOf } from '../../../parts/format.ts';
import { Problem } from '../../../parts/problem.tsx';
import { ReasonBadge } from './delivery-row.tsx';

type ReplayProps = {
  readonly request: InboxFilters & { readonly id?: string };
  readonly onClose: () => void;
};

export function Replay({ request, onClose }: ReplayProps) {
  const queries = useQueryClient();
  const [cursor, setCursor] = useState<string>();
  const dryRun = useQuery({
    queryKey: ['webhooks', 'dry-run', request, cursor],
    queryFn: () => replayDeliveries(request, { isDryRun: true, cursor }),
    // Another look is another dry run.
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  const apply = useMutation({
    mutationFn: () => replayDeliveries(request, { isDryRun: false, cursor }),
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: ['webhooks', 'inbox'] }),
        queries.invalidateQueries({ queryKey: ['webhooks', 'delivery'] }),
        refreshAssets(queries),
      ]),
  });
  const result = apply.data ?? dryRun.data;
  const next = result?.next_cursor ?? null;
  const showNext = (): void => {
    setCursor(next ?? undefined);
    apply.reset();
  };
  const changing = result?.items.filter(isChange).length ?? 0;
  return (
    <Paper withBorder p="md" component="section" aria-label="Replay">
      <Stack gap="sm">
        <Title order={2} size="h4">
          {apply.data ? 'Replayed' : 'Dry run: what a replay would change'}
        </Title>
        {dryRun.isLoading && <Loader size="sm" aria-label="Trying the replay" />}
        {(dryRun.error ?? apply.error) && <Problem error={dryRun.error ?? apply.error} />}
        {result && <Summary result={result} changing={changing} />}
        {result?.items.map((item) => (
          <Difference key={item.id} item={item} isDone={apply.data !== undefined} />
        ))}
        <Group>
          {!apply.data && (
            <Button disabled={changing === 0} loading={apply.isPending} onClick={() => apply.mutate()}>
              {changing === 0 ? 'Nothing to apply' : `Apply ${formatCountOf(changing, 'change')}`}
            </Button>
          )}
          {next !== null && (
            <Button variant="default" onClick={showNext}>
              {apply.data ? 'Next page' : 'Skip to the next page'}
            </Button>
          )}
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
        </Group>
      </Stack>
    </Paper>
  );
}

type Item = ReplayResult['items'][number];

const isChange = ({ processed, changes }: Item): boolean => processed && changes.length > 0;

const Summary = ({ result, changing }: { readonly result: ReplayResult; readonly changing: number }) => (
  <Text size="sm" role="status">
    {formatCountOf(result.items.length, 'webhook')},{' '}
    {result.dry_run ? `${changing} would change an asset` : `${changing} changed an asset`}.
    {result.next_cursor !== null && ' More match: they are on the next page.'}
  </Text>
);

function Difference({ item, isDone }: { readonly item: Item; readonly isDone: boolean }) {
  const {
    asset_id: assetId,
    reason,
    changes,
    stream_status_before: before,
    stream_status_after: after,
  } = item;
  return (
    <Paper withBorder p="sm" data-replay={reason}>
      <Group gap="xs">
        <ReasonBadge reason={reason} />
        {assetId !== null && (
          <Anchor component={Link} href={`/assets/${assetId}`} size="sm" className="break-anywhere">
            {assetId}
          </Anchor>
        )}
      </Group>
      {isChange(item) ? (
        <Group gap={6} mt={6}>
          <Text size="sm">
            {before === after
              ? `The status ${isDone ? 'stayed' : 'stays'} ${after}.`
              : `${before} → ${after}.`}{' '}
            {isDone ? 'Changed:' : 'Would change:'}
          </Text>
          {changes.map((name) => (
            <Badge key={name} variant="light">
              {name}
            </Badge>
          ))}
        </Group>
      ) : (
        <Text size="sm" mt={6}>
          {DELIVERY_REASONS[reason]} Nothing {isDone ? 'changed' : 'would change'}.
        </Text>
      )}
    </Paper>
  );
}
