// Starts another attempt of a failed asset, and sends its bytes again where the service has none.
import type { Asset, OpenUpload } from '@mediary/client';
import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { refreshAssets } from '../../api/assets.ts';
import { mediary } from '../../api/mediary.ts';
import { ChooseFile } from '../../parts/choose-file.tsx';
import { Problem } from '../../parts/problem.tsx';
import { ownerOptions } from '../../parts/use-action.ts';

type AgainProps = { readonly asset: Asset; readonly session: ConsoleSession };

export function TryAgain({ asset, session }: AgainProps) {
  const queries = useQueryClient();
  const options = ownerOptions(session, asset);
  const [open, setOpen] = useState<OpenUpload>();
  const onSettled = (): Promise<void> => refreshAssets(queries);
  const retry = useMutation({
    mutationFn: () => mediary.media.retry(asset.id, options),
    onSuccess: (upload) => setOpen(upload.upload === null ? undefined : upload),
    onSettled,
  });
  const send = useMutation({
    mutationFn: async (file: File) => {
      await putFile(open, file);
      await mediary.media.complete(asset.id, options);
    },
    onSuccess: () => setOpen(undefined),
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
      {open && asset.stream_status === 'pending_upload' && (
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

/** The SDK sends bytes of new assets alone; a retried one has a target for a PUT. */
async function putFile(open: OpenUpload | undefined, file: File): Promise<void> {
  const targets = open ? [open.upload, ...open.alternatives] : [];
  const target = targets.find((one) => one?.protocol === 'put');
  if (!target) throw new Error('The provider of this video takes no single request. Upload the file anew.');
  const { url, method, headers } = target;
  const response = await fetch(url, { method, headers, body: file });
  if (!response.ok) throw new Error(await describeRefusal(response));
}

async function describeRefusal(response: Response): Promise<string> {
  const text = await response.text();
  try {
    return String(JSON.parse(text).message);
  } catch {
    return `The bytes were refused with status ${response.status}.`;
  }
}
