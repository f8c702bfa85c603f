// One asset: how it plays, what it is, and what happened to it.
import { type Asset, formatExpectedTimes } from '@mediary/client';
import { Anchor, Grid, Group, Stack, Text, Title } from '@mantine/core';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { assetQuery, isNotFound } from '../../api/assets.ts';
import { libraryPlaceQuery } from '../../api/library-place.ts';
import { Status } from '../../parts/status.tsx';
import { AssetActions } from './asset-actions.tsx';
import { AssetCollections } from './asset-collections.tsx';
import { AssetFacts } from './asset-facts.tsx';
import { AssetPlayer } from './asset-player.tsx';
import { AssetProblems } from './asset-problems.tsx';
import { Renditions } from './renditions.tsx';
import { AssetEditor } from './edit/asset-editor.tsx';
import { Timeline } from './timeline.tsx';
import { TryAgain } from './try-again.tsx';

/** The asset is read again every second while it is being processed. */
function ExpectedTimes({ asset }: { readonly asset: Asset }) {
  const text = formatExpectedTimes(asset);
  return text === null ? null : <Text size="sm">{`${text.charAt(0).toUpperCase()}${text.slice(1)}`}</Text>;
}

/** To the list as it was left. */
function BackToLibrary() {
  const { data: place } = useQuery(libraryPlaceQuery);
  return (
    <Anchor
      size="sm"
      renderRoot={(props) => (
        <Link href={`/library${place.query}`} state={{ scrollTop: place.scrollTop }} {...props} />
      )}
    >
      Library
    </Anchor>
  );
}

type ScreenProps = { readonly id: string; readonly session: ConsoleSession };

export function AssetScreen({ id, session }: ScreenProps) {
  const { data: asset, error } = useSuspenseQuery(assetQuery(id));
  // A suspense query throws only where there is no earlier data.
  if (isNotFound(error)) throw error;
  const name = asset.title ?? asset.filename;
  return (
    <Stack>
      <BackToLibrary />
      <Group justify="space-between" align="flex-start">
        <Stack gap={4} style={{ minWidth: 0, flex: 1 }}>
          <Title order={1} size="h2" className="break-anywhere" dir="auto" lineClamp={3} title={name}>
            {name}
          </Title>
          <Group gap="xs">
            <Status asset={asset} />
            <Text size="sm" c="dimmed" className="break-anywhere">
              {asset.owner_user_id}
            </Text>
            {asset.clip_of && (
              <Anchor component={Link} href={`/assets/${asset.clip_of.id}`} size="sm">
                Clip of a video
              </Anchor>
            )}
            {asset.version_of && (
              <Anchor component={Link} href={`/assets/${asset.version_of}`} size="sm">
                Replaces the file of another asset
              </Anchor>
            )}
          </Group>
          <ExpectedTimes asset={asset} />
        </Stack>
        <AssetActions asset={asset} session={session} />
      </Group>
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, lg: 7 }}>
          <Stack>
            <AssetProblems asset={asset} />
            {(asset.failure?.retryable || asset.stream_status === 'pending_upload') && (
              <TryAgain asset={asset} session={session} />
            )}
            <AssetPlayer asset={asset} />
            {asset.deleted_at === null && <AssetEditor asset={asset} session={session} />}
            {asset.renditions.length > 0 && <Renditions renditions={asset.renditions} />}
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 5 }}>
          <Stack>
            <AssetFacts asset={asset} />
            {asset.deleted_at === null && <AssetCollections asset={asset} session={session} />}
            <Timeline asset={asset} session={session} />
          </Stack>
        </Grid.Col>
      </Grid>
    </Stack>
  );
}
