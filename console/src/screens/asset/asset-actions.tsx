// What people do with an asset: change its visibility, try again, delete and restore.
import type { Asset } from '@mediary/client';
import { Button, Group, Menu } from '@mantine/core';
import type { ConsoleSession } from '@mediary/contract/schemas/console';
import { useLocation } from 'wouter';
import { mediary } from '../../api/mediary.ts';
import { ownerOptions, showError, useAction } from '../../parts/use-action.ts';

type ActionsProps = { readonly asset: Asset; readonly session: ConsoleSession };

export function AssetActions({ asset, session }: ActionsProps) {
  const act = useAction();
  const [, navigate] = useLocation();
  const options = ownerOptions(session, asset);
  const throwAway = async () => {
    await mediary.media.delete(id, { ...options, trash: true });
    navigate('/library?deleted=true');
  };
  const { id, failure, visibility } = asset;
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
          <Menu.Item color="red" onClick={() => act.mutate(throwAway)}>
            Move to the trash
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </Group>
  );
}

async function download(id: string): Promise<void> {
  try {
    const { url } = await mediary.media.downloadUrl(id);
    if (url !== null) location.assign(url);
  } catch (error) {
    showError(error);
  }
}
