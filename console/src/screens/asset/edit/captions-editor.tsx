// Captions of a video: add, change and delete.
import type { Caption } from '@mediary/client';
import { Badge, Button, Group, Loader, Modal, Paper, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { captionsQuery, refreshAssets, refreshPlayback } from '../../../api/assets.ts';
import { mediary } from '../../../api/mediary.ts';
import { formatBytes } from '../../../parts/format.ts';
import { Problem } from '../../../parts/problem.tsx';
import { Time } from '../../../parts/time.tsx';
import { ownerOptions } from '../../../parts/use-action.ts';
import type { EditorProps } from './asset-editor.tsx';
import { CaptionForm } from './caption-form.tsx';

type Dialog =
  | { readonly kind: 'add' }
  | { readonly kind: 'edit' | 'delete'; readonly caption: Caption }
  | undefined;

const TITLES = { add: 'Add captions', edit: 'Change captions', delete: 'Delete captions' } as const;

export function CaptionsEditor({ asset, session }: EditorProps) {
  const { data: captions, error, refetch } = useQuery(captionsQuery(asset.id));
  const [dialog, setDialog] = useState<Dialog>();
  const close = (): void => setDialog(undefined);
  return (
    <Stack gap="sm">
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {!captions && !error && <Loader size="sm" aria-label="Reading the captions" />}
      {captions?.length === 0 && (
        <Text size="sm">No captions yet. Add a WebVTT or SubRip file: players offer it at once.</Text>
      )}
      {captions?.map((caption) => (
        <CaptionRow
          key={caption.language}
          caption={caption}
          onEdit={() => setDialog({ kind: 'edit', caption })}
          onDelete={() => setDialog({ kind: 'delete', caption })}
        />
      ))}
      <Group>
        <Button variant="default" onClick={() => setDialog({ kind: 'add' })}>
          Add captions
        </Button>
      </Group>
      <Modal
        opened={dialog !== undefined}
        onClose={close}
        title={dialog && TITLES[dialog.kind]}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {dialog?.kind === 'delete' && (
          <DeleteCaption asset={asset} session={session} caption={dialog.caption} onDone={close} />
        )}
        {dialog && dialog.kind !== 'delete' && (
          <CaptionForm
            asset={asset}
            session={session}
            caption={dialog.kind === 'edit' ? dialog.caption : undefined}
            onDone={close}
          />
        )}
      </Modal>
    </Stack>
  );
}

type RowProps = {
  readonly caption: Caption;
  readonly onEdit: () => void;
  readonly onDelete: () => void;
};

const CaptionRow = ({ caption, onEdit, onDelete }: RowProps) => (
  <Paper withBorder p="sm">
    <Group justify="space-between" align="flex-start">
      <Stack gap={2} style={{ minWidth: 0, flex: '1 1 180px' }}>
        <Group gap="xs">
          <Text fw={600} className="break-anywhere" dir="auto">
            {caption.label}
          </Text>
          <Badge variant="default">{caption.language}</Badge>
          {caption.default && <Badge variant="light">shown by default</Badge>}
        </Group>
        <Text size="xs" c="dimmed">
          {caption.kind === 'captions' ? 'With sounds' : 'Subtitles'} · {formatBytes(caption.size_bytes)} ·{' '}
          {caption.source === 'embedded' ? 'from the video file' : <Time at={caption.updated_at} />}
        </Text>
      </Stack>
      <Group gap="xs">
        <Button size="xs" variant="default" onClick={onEdit} aria-label={`Change ${caption.label}`}>
          Change
        </Button>
        <Button
          size="xs"
          variant="subtle"
          color="red"
          onClick={onDelete}
          aria-label={`Delete ${caption.label}`}
        >
          Delete
        </Button>
      </Group>
    </Group>
  </Paper>
);

type DeleteProps = EditorProps & { readonly caption: Caption; readonly onDone: () => void };

function DeleteCaption({ asset, session, caption, onDone }: DeleteProps) {
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => mediary.captions.delete(asset.id, caption.language, ownerOptions(session, asset)),
    onSuccess: onDone,
    onSettled: () => Promise.all([refreshAssets(queries), refreshPlayback(queries, asset.id)]),
  });
  return (
    <Stack>
      <Text className="break-anywhere">
        Delete the captions “{caption.label}” ({caption.language})? They cannot be restored.
      </Text>
      {remove.error && <Problem error={remove.error} />}
      <Group>
        <Button color="red" loading={remove.isPending} onClick={() => remove.mutate()}>
          Delete
        </Button>
        <Button variant="default" onClick={onDone}>
          Keep
        </Button>
      </Group>
    </Stack>
  );
}
