// One file: its bytes, then its encoding, then its picture.
import type { Asset } from '@mediary/client';
import { ActionIcon, Anchor, Group, Paper, Progress, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { assetQuery } from '../../api/assets.ts';
import { pauseUpload, removeUpload, resumeUpload, type Upload } from '../../api/uploads.ts';
import { formatBytes } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Status } from '../../parts/status.tsx';
import { AssetPlayer } from '../asset/asset-player.tsx';

type RowProps = {
  readonly upload: Upload;
  /** False in long lists: a link leads to the player. */
  readonly hasPlayer?: boolean;
};

export function UploadRow({ upload, hasPlayer = true }: RowProps) {
  const { name, assetId, error, state } = upload;
  return (
    <Paper withBorder p="md" data-upload={state}>
      <Stack gap="sm">
        <Group justify="space-between" wrap="nowrap">
          <Text fw={600} className="break-anywhere" lineClamp={2} dir="auto">
            {name}
          </Text>
          <UploadButtons upload={upload} />
        </Group>
        {assetId === undefined ? (
          <SentBytes upload={upload} />
        ) : (
          <Encoding id={assetId} hasPlayer={hasPlayer} />
        )}
        {error !== undefined && state === 'failed' && <Problem error={error} onRetry={upload.retry} />}
      </Stack>
    </Paper>
  );
}

function UploadButtons({ upload }: { readonly upload: Upload }) {
  const { state, name, handle } = upload;
  const isPaused = state === 'paused';
  const isMoving = state === 'uploading' || state === 'waiting';
  return (
    <Group gap={4} wrap="nowrap">
      {handle && (isMoving || isPaused) && (
        <ActionIcon
          variant="subtle"
          aria-label={`${isPaused ? 'Resume' : 'Pause'} ${name}`}
          onClick={() => (isPaused ? resumeUpload(upload) : pauseUpload(upload))}
        >
          <Icon name={isPaused ? 'play' : 'pause'} />
        </ActionIcon>
      )}
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={`Remove ${name} from the list`}
        onClick={() => removeUpload(upload)}
      >
        <Icon name="close" />
      </ActionIcon>
    </Group>
  );
}

function SentBytes({ upload: { progress, name, size, state, handle } }: { readonly upload: Upload }) {
  const sent = progress?.bytesSent ?? 0;
  const speed = progress?.bytesPerSecond ?? null;
  const left = progress?.secondsLeft ?? null;
  if (state === 'failed') return null;
  if (!handle || size === undefined)
    return (
      <Text size="sm" c="dimmed">
        The service looks at the URL
      </Text>
    );
  return (
    <Stack gap={4}>
      <Progress
        value={size === 0 ? 0 : (100 * sent) / size}
        animated={state === 'uploading'}
        aria-label={`Upload of ${name}`}
      />
      <Text size="sm" c="dimmed">
        {state === 'waiting' ? 'Waiting for its turn' : `${formatBytes(sent)} of ${formatBytes(size)}`}
        {speed !== null && state === 'uploading' && ` · ${formatBytes(speed)}/s`}
        {left !== null && state === 'uploading' && ` · ${Math.ceil(left)} s left`}
        {state === 'paused' && ' · paused'}
      </Text>
    </Stack>
  );
}

function Encoding({ id, hasPlayer }: { readonly id: string; readonly hasPlayer: boolean }) {
  const { data: asset, error } = useQuery(assetQuery(id));
  if (error) return <Problem error={error} />;
  if (!asset) return <Progress value={100} animated aria-label="Reading the asset" />;
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Status asset={asset} />
        <Anchor component={Link} href={`/assets/${asset.id}`} size="sm">
          Details and timeline
        </Anchor>
      </Group>
      {asset.stream_status === 'processing' && (
        <Progress value={asset.progress} animated aria-label={`Encoding of ${asset.filename}`} />
      )}
      <Failure asset={asset} />
      {hasPlayer && <AssetPlayer asset={asset} />}
    </Stack>
  );
}

const Failure = ({ asset: { failure } }: { readonly asset: Asset }) =>
  failure && (
    <Text c="red" size="sm" className="break-anywhere">
      {failure.message} ({failure.code})
    </Text>
  );
