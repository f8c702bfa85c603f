// What people do with a whole asset: download, delete and restore.
import type { Asset } from '@mediary/client';
import { Button, Group, Menu } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { refreshPlayback } from '../../api/assets.ts';
import { mediary } from '../../api/mediary.ts';
import { ownerOptions, showError, useAction } from '../../parts/use-action.ts';

type ActionsProps = { readonly asset: Asset; readonly session: ConsoleSession };

export function AssetActions({ asset, session }: ActionsProps) {
  const { id, deleted_at: deletedAt } = asset;
  const act = useAction();
  const options = ownerOptions(session, asset);
  const restore = () => mediary.media.restore(id, options);
  return (
    <Group gap="xs">
      {deletedAt === null ? (
        <ActionMenu asset={asset} session={session} />
      ) : (
        <Button loading={act.isPending} onClick={() => act.mutate(restore)}>
          Restore
        </Button>
      )}
    </Group>
  );
}

function ActionMenu({ asset, session }: ActionsProps) {
  const act = useAction();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const options = ownerOptions(session, asset);
  const { id, uploaded_at: uploadedAt } = asset;
  const throwAway = async () => {
    await mediary.media.delete(id, { ...options, trash: true });
    navigate('/library?deleted=true');
  };
  const revoke = async () => {
    await mediary.media.revokePlayback(id, options);
    await refreshPlayback(queries, id);
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" loading={act.isPending}>
          Actions
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item disabled={uploadedAt === null} onClick={() => void download(id)}>
          Download the original
        </Menu.Item>
        <Menu.Item onClick={() => act.mutate(revoke)}>Revoke playback URLs</Menu.Item>
        <Menu.Divider />
        <Menu.Item color="red" onClick={() => act.mutate(throwAway)}>
          Move to the trash
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

async function download(id: string): Promise<void> {
  try {
    const { url } = await mediary.media.downloadUrl(id);
    if (url === null)
      notifications.show({ message: 'The provider prepares the file. Try again in a minute.' });
    else location.assign(url);
  } catch (error) {
    showError(error);
  }
}
