// What applies to the files that are added next.
import { Group, SegmentedControl, TagsInput, TextInput } from '@mantine/core';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { OPERATORS_OWNER, type UploadSettings } from '../../api/uploads.ts';

type OptionsProps = {
  readonly session: ConsoleSession;
  readonly settings: UploadSettings;
  readonly onChange: (settings: UploadSettings) => void;
};

const VISIBILITIES = [
  { value: 'private', label: 'Private' },
  { value: 'public', label: 'Public' },
];

export const UploadOptions = ({ session, settings, onChange }: OptionsProps) => (
  <Group gap="sm" align="flex-end">
    {session.kind !== 'user' && (
      <TextInput
        label="Owner"
        placeholder={session.owner_user_id ?? OPERATORS_OWNER}
        value={settings.owner ?? ''}
        onChange={({ currentTarget: { value } }) =>
          onChange({ ...settings, owner: value.trim() || undefined })
        }
        w={220}
      />
    )}
    <TagsInput
      label="Tags"
      value={settings.tags ?? []}
      onChange={(tags) => onChange({ ...settings, tags })}
      acceptValueOnBlur
      w={260}
    />
    <SegmentedControl
      data={VISIBILITIES}
      value={settings.visibility ?? 'private'}
      onChange={(value) => onChange({ ...settings, visibility: value === 'public' ? 'public' : 'private' })}
      aria-label="Visibility"
    />
  </Group>
);
