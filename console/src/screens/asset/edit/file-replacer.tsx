// Gives an asset another file, follows it until it takes over, and brings the previous one back.
import type { Asset, AssetVersion } from '@mediary/client';
import {
  Alert,
  Anchor,
  Badge,
  Button,
  Checkbox,
  Group,
  Loader,
  Paper,
  Progress,
  Stack,
  Text,
} from '@mantine/core';
import { useIsMutating, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { refreshAssets, versionsQuery } from '../../../api/assets.ts';
import { mediary } from '../../../api/mediary.ts';
import { cancelFile, sendFile } from '../../../api/uploads.ts';
import { ChooseFile } from '../../../parts/choose-file.tsx';
import { formatBytes, formatDuration } from '../../../parts/format.ts';
import { Problem } from '../../../parts/problem.tsx';
import { Time } from '../../../parts/time.tsx';
import { ownerOptions } from '../../../parts/use-action.ts';
import type { EditorProps } from './asset-editor.tsx';

export function FileReplacer(props: EditorProps) {
  const { asset } = props;
  const queries = useQueryClient();
  const { data: versions, error, refetch } = useQuery(versionsQuery(asset));
  const next = versions?.find(({ role }) => role === 'next');
  const nextId = next?.asset_id;
  // The replacement is gone: the asset has its file, or keeps the old one.
  useEffect(() => (nextId ? () => void refreshAssets(queries) : undefined), [nextId, queries]);
  const drop = useDrop(props, nextId);
  return (
    <Stack gap="sm">
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {!versions && !error && <Loader size="sm" aria-label="Reading the files" />}
      {versions?.map((version) => (
        <VersionRow key={version.role} version={version} drop={drop} {...props} />
      ))}
      {drop.data && <Alert role="status">{drop.data}</Alert>}
      {versions && <NewFile next={next?.stream_status} onFile={drop.reset} {...props} />}
    </Stack>
  );
}

const LABELS = { next: 'Next', current: 'Current', previous: 'Previous' } as const;

/** Ends the upload of the next file and deletes it. The result is a sentence about both. */
function useDrop({ asset, session }: EditorProps, nextId: string | null | undefined) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async () => {
      const wasSent = cancelFile(asset.id);
      await mediary.media.delete(nextId ?? '', ownerOptions(session, asset));
      return `${wasSent ? 'The upload was cancelled. ' : ''}The asset keeps its current file.`;
    },
    onSettled: () => refreshAssets(queries),
  });
}

type VersionProps = EditorProps & {
  readonly version: AssetVersion;
  readonly drop: ReturnType<typeof useDrop>;
};

function VersionRow({ version, drop, ...props }: VersionProps) {
  const { role, filename, restorable_until: until } = version;
  return (
    <Paper withBorder p="sm">
      <Group justify="space-between" align="flex-start">
        <Stack gap={2} style={{ minWidth: 0, flex: '1 1 200px' }}>
          <Group gap="xs">
            <Badge variant={role === 'current' ? 'light' : 'default'}>{LABELS[role]}</Badge>
            <Text fw={600} className="break-anywhere" dir="auto">
              {filename}
            </Text>
          </Group>
          <Text size="xs" c="dimmed">
            {describe(version)}
          </Text>
          {until && (
            <Text size="xs" c="dimmed">
              The time to bring it back ends <Time at={until} />.
            </Text>
          )}
        </Stack>
        {role === 'next' && <NextActions id={version.asset_id ?? ''} drop={drop} />}
        {role === 'previous' && <RollBack {...props} />}
      </Group>
    </Paper>
  );
}

function describe(version: AssetVersion): string {
  const { size_bytes: size, duration_ms: duration, width, height } = version;
  const parts = [
    version.role === 'next' && STATES[version.stream_status],
    version.role === 'next' && version.stream_status === 'processing' && `${version.progress} %`,
    size !== null && formatBytes(size),
    duration !== null && formatDuration(duration),
    width !== null && height !== null && `${width} × ${height}`,
  ];
  return parts.filter((part) => part !== false).join(' · ');
}

const STATES = {
  pending_upload: 'Waits for its bytes',
  processing: 'Processing',
  ready: 'Takes over',
  failed: 'Failed',
} as const;

function NextActions({ id, drop }: Pick<VersionProps, 'drop'> & { readonly id: string }) {
  return (
    <Group gap="xs">
      <Anchor component={Link} href={`/assets/${id}`} size="sm">
        Show
      </Anchor>
      <Button size="xs" variant="default" loading={drop.isPending} onClick={() => drop.mutate()}>
        Keep the current file
      </Button>
      {drop.error && <Problem error={drop.error} />}
    </Group>
  );
}

function RollBack({ asset, session }: EditorProps) {
  const queries = useQueryClient();
  const rollBack = useMutation({
    mutationFn: () => mediary.versions.rollBack(asset.id, ownerOptions(session, asset)),
    onSettled: () => refreshAssets(queries),
  });
  return (
    <Stack gap="xs">
      <Button size="xs" variant="default" loading={rollBack.isPending} onClick={() => rollBack.mutate()}>
        Bring it back
      </Button>
      {rollBack.error && <Problem error={rollBack.error} />}
    </Stack>
  );
}

type NewFileProps = EditorProps & { readonly next: NextStatus; readonly onFile: () => void };

/** Shows how far the file is, and why it failed, also after its asset appeared among the versions. */
function NewFile({ asset, session, next, onFile }: NewFileProps) {
  const queries = useQueryClient();
  const [percent, setPercent] = useState(0);
  const [isKeeping, setKeeping] = useState(true);
  const send = useMutation({
    mutationKey: ['replace', asset.id],
    mutationFn: (file: File) =>
      sendFile({ assetId: asset.id, session }, (signal) =>
        mediary.media.upload(file, {
          ...ownerOptions(session, asset),
          replaces: asset.id,
          keep: isKeeping ? [...PARTS[asset.kind]] : [],
          signal,
          onAsset: () => void refreshAssets(queries),
          onProgress: ({ bytesSent, totalBytes }) => setPercent((100 * bytesSent) / Math.max(1, totalBytes)),
        }),
      ),
    onMutate: onFile,
    onSettled: () => refreshAssets(queries),
  });
  const isSending = useIsReplacing(asset);
  if (!isSending && !send.error && !takesFile(next)) return null;
  return (
    <Stack gap="sm">
      <Text size="sm">{next === 'pending_upload' && !isSending ? CONTINUE : hintOf(asset)}</Text>
      <Checkbox
        checked={isKeeping}
        onChange={({ currentTarget }) => setKeeping(currentTarget.checked)}
        label={LABELS_OF_PARTS[asset.kind]}
      />
      {send.isPending && <Progress value={percent} aria-label="Sent" />}
      {send.error && <Problem error={send.error} />}
      <Group>
        <ChooseFile accept={`${asset.kind}/*`} loading={isSending} onFile={(file) => send.mutate(file)}>
          Choose a new file
        </ChooseFile>
      </Group>
    </Stack>
  );
}

/** True also for a file that was chosen before the panel was closed. */
const useIsReplacing = ({ id }: Asset): boolean => useIsMutating({ mutationKey: ['replace', id] }) > 0;

type NextStatus = AssetVersion['stream_status'] | undefined;

const takesFile = (next: NextStatus): boolean =>
  next === undefined || next === 'failed' || next === 'pending_upload';

const CONTINUE = 'The next file waits for its bytes. Choose the same file to send the rest.';

/** What the new file takes over, if it still fits. */
const PARTS = {
  image: ['focal_point'],
  audio: ['chapters'],
  video: ['captions', 'chapters', 'poster'],
} as const;

const LABELS_OF_PARTS = {
  image: 'Keep the focal point',
  audio: 'Keep the chapters',
  video: 'Keep captions, chapters and poster',
} as const;

const hintOf = ({ kind }: Asset): string =>
  'The new file gets this address, title and tags. The old one ' +
  (kind === 'image' ? 'is shown until it is ready.' : 'plays until it is ready.');
