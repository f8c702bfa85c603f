// Whether the service is healthy: findings, charts of the last day, providers, assets and storage checks.
import { Center, Loader, Stack, Text, Title } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { AssetCounts } from './asset-counts.tsx';
import { Findings } from './findings.tsx';
import { Providers } from './providers.tsx';
import { StorageChecks } from './storage-checks.tsx';

const Charts = lazy(async () => ({ default: (await import('./charts.tsx')).Charts }));

export const Health = () => (
  <Stack gap="lg">
    <div>
      <Title order={1} size="h2">
        Health
      </Title>
      <Text c="dimmed">What is wrong and how to fix it, and how the last day went.</Text>
    </div>
    <Findings />
    <Suspense
      fallback={
        <Center mih={240}>
          <Loader aria-label="Loading the charts" />
        </Center>
      }
    >
      <Charts />
    </Suspense>
    <Providers />
    <AssetCounts />
    <StorageChecks />
  </Stack>
);
