// Starts another attempt of a failed asset, and sends its bytes again where the service has none.
import type { Asset } from '@mediary/client';
import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { refreshAssets } from '../../api/assets.ts';
import { mediary } from '../../api/mediary.ts';
import { sendFile } from '../../api/uploads.ts';
import { ChooseFile } from '../../parts/choose-file.tsx';
import { Problem } from '../../parts/problem.tsx';
import { ownerOptions } from '../../parts/use-action.ts';

type AgainProps = { readonly asset: Asset; readonly session: ConsoleSession };

export function TryAgain({ asset, session }: AgainProps) {
  const queries = useQueryClient();
  const options = ownerOptions(session, asset);
  const [needsFile, setNeedsFile] = useState(false);
  const onSettled = (): Promise<void> => refreshAssets(queries);
  const retry = useMutation({
    mutationFn: () => mediary.media.retry(asset.id, options),
    onSuccess: ({ upload }) => setNeedsFile(upload !== null),
    onSettled,
  });
  const send = useMutation({
    mutationFn: (file: File) =>
      sendFile({ assetId: asset.id, session }, (signal) =>
        mediary.media.upload(file, { ...options, retryOf: asset.id, signal }),
      ),
    onSuccess: () => setNeedsFile(false),
    onSettled,
  });
  const error = send.error ?? retry.error;
  return (
    <Stack gap="sm">
      {asset.failure?.retryable && (
        <Group>
          <Button loading={retry.isPending} onClick={() => retry.mutate()}>
            Try again
          </Button>
        </Group>
      )}
      {needsFile && asset.stream_status === 'pending_upload' && (
        <Alert title="The service needs the file again">
          <Stack gap="sm">
            <Text size="sm" className="break-anywhere">
              Choose the file “{asset.filename}”, or a repaired one of the same type.
            </Text>
            <Group>
              <ChooseFile
                accept={asset.mime_type}
                loading={send.isPending}
                onFile={(file) => send.mutate(file)}
              >
                Choose the file
              </ChooseFile>
            </Group>
          </Stack>
        </Alert>
      )}
      {error && <Problem error={error} />}
    </Stack>
  );
}
