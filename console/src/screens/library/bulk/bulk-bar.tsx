// What people do with the selected assets.
import type { Asset } from '@mediary/client';
import { Button, Group, Modal, Paper, Stack, TagsInput, Text } from '@mantine/core';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { type FormEvent, useState } from 'react';
import { formatCount, formatCountOf } from '../../../parts/format.ts';
import { mediary } from '../../../api/mediary.ts';
import { ownerOptions } from '../../../parts/use-action.ts';
import type { BulkAction } from './use-bulk.ts';
import type { Selection } from './use-selection.ts';

type BarProps = {
  readonly session: ConsoleSession;
  readonly selection: Selection;
  /** Assets that were listed so far. */
  readonly listed: number;
  readonly isTrash: boolean;
  readonly isRunning: boolean;
  readonly onAct: (action: BulkAction) => void;
};

export function BulkBar({ session, selection, listed, isTrash, isRunning, onAct }: BarProps) {
  const [dialog, setDialog] = useState<'tags' | 'delete'>();
  const count = selection.assets.length;
  const assets = formatCountOf(count, 'asset');
  const act = (action: BulkAction): void => {
    setDialog(undefined);
    onAct(action);
  };
  return (
    <Paper withBorder p="xs" shadow="sm" className="bulk-bar" role="toolbar" aria-label="Selected assets">
      <Group gap="xs">
        <Text size="sm" fw={600} role="status">
          {formatCount(count)} selected
        </Text>
        <Button size="xs" variant="subtle" onClick={selection.addAll}>
          Select all {formatCount(listed)} shown
        </Button>
        <Button size="xs" variant="subtle" color="gray" onClick={selection.clear}>
          Clear
        </Button>
        <Actions
          session={session}
          isTrash={isTrash}
          isDisabled={isRunning}
          onAct={act}
          onDialog={setDialog}
        />
      </Group>
      <Modal
        opened={dialog !== undefined}
        onClose={() => setDialog(undefined)}
        title={dialog === 'tags' ? `Tag ${assets}` : `Delete ${assets} for good`}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {dialog === 'tags' && <TagForm session={session} assets={selection.assets} onAct={act} />}
        {dialog === 'delete' && (
          <Stack>
            <Text>They cannot be restored.</Text>
            <Button color="red" onClick={() => act(deletion(session))}>
              Delete for good
            </Button>
          </Stack>
        )}
      </Modal>
    </Paper>
  );
}

type ActionsProps = {
  readonly session: ConsoleSession;
  readonly isTrash: boolean;
  readonly isDisabled: boolean;
  readonly onAct: (action: BulkAction) => void;
  readonly onDialog: (dialog: 'tags' | 'delete') => void;
};

function Actions({ session, isTrash, isDisabled, onAct, onDialog }: ActionsProps) {
  const button = { size: 'xs', variant: 'default', disabled: isDisabled } as const;
  if (isTrash)
    return (
      <>
        <Button {...button} onClick={() => onAct(restoration(session))}>
          Restore
        </Button>
        <Button {...button} c="red" onClick={() => onDialog('delete')}>
          Delete for good
        </Button>
      </>
    );
  return (
    <>
      <Button {...button} onClick={() => onDialog('tags')}>
        Tag
      </Button>
      <Button {...button} onClick={() => onAct(publication(session, 'public'))}>
        Make public
      </Button>
      <Button {...button} onClick={() => onAct(publication(session, 'private'))}>
        Make private
      </Button>
      <Button {...button} onClick={() => onAct(disposal(session))}>
        Move to the trash
      </Button>
    </>
  );
}

const restoration = (session: ConsoleSession): BulkAction => ({
  participle: 'restored',
  run: (asset) => mediary.media.restore(asset.id, ownerOptions(session, asset)),
});

const deletion = (session: ConsoleSession): BulkAction => ({
  participle: 'deleted for good',
  run: (asset) => mediary.media.delete(asset.id, ownerOptions(session, asset)),
});

const disposal = (session: ConsoleSession): BulkAction => ({
  participle: 'moved to the trash',
  run: (asset) => mediary.media.delete(asset.id, { ...ownerOptions(session, asset), trash: true }),
});

const publication = (session: ConsoleSession, visibility: Asset['visibility']): BulkAction => ({
  participle: `made ${visibility}`,
  run: (asset) => mediary.media.update(asset.id, { visibility }, ownerOptions(session, asset)),
});

type TagChange = { readonly added: readonly string[]; readonly removed: readonly string[] };

/** Others may have changed the tags meanwhile: they are read before, and the version is compared. */
const tagging = (session: ConsoleSession, { added, removed }: TagChange): BulkAction => ({
  participle: 'tagged',
  run: async ({ id }) => {
    const asset = await mediary.media.get(id);
    const tags = [...new Set([...asset.tags, ...added])].filter((tag) => !removed.includes(tag));
    await mediary.media.update(id, { tags }, { ...ownerOptions(session, asset), ifMatch: asset.version });
  },
});

type TagProps = {
  readonly session: ConsoleSession;
  readonly assets: readonly Asset[];
  readonly onAct: (action: BulkAction) => void;
};

function TagForm({ session, assets, onAct }: TagProps) {
  const [added, setAdded] = useState<string[]>([]);
  const [removed, setRemoved] = useState<string[]>([]);
  const present = [...new Set(assets.flatMap(({ tags }) => tags))];
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onAct(tagging(session, { added, removed }));
  };
  return (
    <Stack component="form" onSubmit={submit}>
      <TagsInput
        label="Add"
        description="Enter adds a tag."
        value={added}
        onChange={setAdded}
        acceptValueOnBlur
      />
      {present.length > 0 && (
        <TagsInput label="Remove" data={present} value={removed} onChange={setRemoved} />
      )}
      <Button type="submit" disabled={added.length + removed.length === 0}>
        Save
      </Button>
    </Stack>
  );
}
