// The chapters of a video as text: a line for each one.
import { type Asset, formatChapters, parseChapters, type UpdateAssetRequest } from '@mediary/client';
import { Text, Textarea } from '@mantine/core';
import type { EditorProps } from './asset-editor.tsx';
import { EditForm } from './edit-form.tsx';
import { formatCountOf } from '../../../parts/format.ts';

type Fields = { readonly lines: string };

const fieldsOf = ({ chapters }: Asset): Fields => ({ lines: formatChapters(chapters) });

/** Throws for a line that is no chapter. */
const toRequest = ({ lines }: Fields): UpdateAssetRequest => ({ chapters: parseChapters(lines) });

export const ChaptersEditor = ({ asset, session }: EditorProps) => (
  <EditForm asset={asset} session={session} fieldsOf={fieldsOf} toRequest={toRequest}>
    {({ lines }, onChange) => (
      <>
        <Text size="sm" c="dimmed">
          {describe(asset)} Players show them on the seek bar and in a menu.
        </Text>
        <Textarea
          label="Chapters"
          description="A line for each chapter: its start and its title."
          placeholder={'0:00 Introduction\n1:05 Demo'}
          value={lines}
          onChange={({ currentTarget }) => onChange({ lines: currentTarget.value })}
          autosize
          minRows={4}
          maxRows={16}
        />
      </>
    )}
  </EditForm>
);

function describe({ chapters }: Asset): string {
  if (chapters.length === 0) return 'The video has no chapters.';
  return `The video has ${formatCountOf(chapters.length, 'chapter')}.`;
}
