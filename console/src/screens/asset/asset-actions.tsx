// What people do with an asset: change its visibility, try again, delete and restore.
import type { Asset, CallOptions } from '@mediary/client';
import { Button, Group, Menu } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { ConsoleSession } from '@mediary/contract/schemas/console';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { mediary } from '../../api/mediary.ts';
import { describe } from '../../parts/problem.tsx';

type ActionsProps = { readonly asset: Asset; readonly session: ConsoleSession };

export function AssetActions({ asset, session }: ActionsProps) {
  const act = useAction(asset);
  const options: CallOptions = session.kind === 'user' ? {} : { ownerUserId: asset.owner_user_id };
  const { id, deleted_at: deletedAt, failure, visibility } = asset;
  if (deletedAt !== null)
    return <Button onClick={() => act.mutate(() => mediary.media.restore(id, options))}>Restore</Button>;
  const other = visibility === 'public' ? 'private' : 'public';
  return (
    <Group gap="xs">
      {failure?.retryable && (
        <Button loading={act.isPending} onClick={() => act.mutate(() => mediary.media.retry(id, options))}>
          Try again
        </Button>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default">Actions</Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            onClick={() => act.mutate(() => mediary.media.update(id, { visibility: other }, options))}
          >
            Make it {other}
          </Menu.Item>
          <Menu.Item onClick={() => void download(id)}>Download the original</Menu.Item>
          <Menu.Divider />
          <Menu.Item
            color="red"
            onClick={() => act.mutate(() => mediary.media.delete(id, { ...options, trash: true }))}
          >
            Move to the trash
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </Group>
  );
}

/** Runs a change, reads the asset again, and shows what the service refuses. */
function useAction({ id }: Asset) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (action: () => Promise<unknown>) => action(),
    onSettled: () => queries.invalidateQueries({ queryKey: ['assets'] }),
    onError: showError,
    mutationKey: ['assets', id],
  });
}

function showError(error: unknown): void {
  const { title, message } = describe(error);
  notifications.show({ color: 'red', title, message, autoClose: false });
}

async function download(id: string): Promise<void> {
  try {
    const { url } = await mediary.media.downloadUrl(id);
    if (url !== null) location.assign(url);
  } catch (error) {
    showError(error);
  }
}
