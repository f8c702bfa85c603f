// The captions of one language: a new file, or another language, label or kind of a stored one.
import type { Asset, CallOptions, Caption } from '@mediary/client';
import { Button, Checkbox, FileInput, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { refreshAssets, refreshPlayback } from '../../../api/assets.ts';
import { mediary } from '../../../api/mediary.ts';
import { Problem } from '../../../parts/problem.tsx';
import { ownerOptions } from '../../../parts/use-action.ts';
import type { EditorProps } from './asset-editor.tsx';

type FormProps = EditorProps & {
  /** Undefined: new captions. */
  readonly caption: Caption | undefined;
  readonly onDone: () => void;
};

type Fields = {
  readonly file: File | null;
  readonly language: string;
  readonly label: string;
  readonly hasSounds: boolean;
  readonly isDefault: boolean;
};

export function CaptionForm({ asset, session, caption, onDone }: FormProps) {
  const queries = useQueryClient();
  const [fields, setFields] = useState<Fields>({
    file: null,
    language: caption?.language ?? '',
    label: caption?.label ?? '',
    hasSounds: caption?.kind === 'captions',
    isDefault: caption?.default ?? false,
  });
  const set = (members: Partial<Fields>): void => setFields({ ...fields, ...members });
  const save = useMutation({
    mutationFn: () => storeCaptions(asset, caption, { fields, options: ownerOptions(session, asset) }),
    onSuccess: onDone,
    onSettled: () => Promise.all([refreshAssets(queries), refreshPlayback(queries, asset.id)]),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <Stack component="form" onSubmit={submit}>
      <FileInput
        label={caption ? 'Another file' : 'File'}
        description={`WebVTT or SubRip in UTF-8, at most 1 MiB.${caption ? ' Without one, the text stays.' : ''}`}
        placeholder="Choose a file"
        accept=".vtt,.srt,text/vtt,application/x-subrip"
        value={fields.file}
        onChange={(file) => set({ file, ...guessLanguage(fields, file) })}
        required={!caption}
        clearable
        clearButtonProps={{ 'aria-label': 'Remove the file' }}
      />
      <Inputs fields={fields} onChange={set} />
      {save.error && <Problem error={save.error} />}
      <Button type="submit" loading={save.isPending} disabled={!caption && !fields.file}>
        Save
      </Button>
    </Stack>
  );
}

type InputsProps = { readonly fields: Fields; readonly onChange: (members: Partial<Fields>) => void };

const Inputs = ({ fields: { language, label, hasSounds, isDefault }, onChange }: InputsProps) => (
  <>
    <TextInput
      label="Language"
      description="As players name it: en, de, pt-BR."
      value={language}
      onChange={({ currentTarget }) => onChange({ language: currentTarget.value })}
      required
    />
    <TextInput
      label="Label"
      description="In the menu of players. Empty: the name of the language."
      dir="auto"
      value={label}
      onChange={({ currentTarget }) => onChange({ label: currentTarget.value })}
      maxLength={100}
    />
    <Checkbox
      label="Also describes sounds, for viewers who do not hear them"
      checked={hasSounds}
      onChange={({ currentTarget }) => onChange({ hasSounds: currentTarget.checked })}
    />
    <Checkbox
      label="Players show it by default"
      checked={isDefault}
      onChange={({ currentTarget }) => onChange({ isDefault: currentTarget.checked })}
    />
  </>
);

/** `talk.pt-BR.vtt` names its language. */
function guessLanguage({ language }: Fields, file: File | null): Partial<Fields> {
  const named = /[._-]([a-z]{2,3}(?:-[A-Za-z]{2,4})?)\.(?:vtt|srt)$/.exec(file?.name ?? '')?.[1];
  return language === '' && named !== undefined ? { language: named } : {};
}

type Change = { readonly fields: Fields; readonly options: CallOptions };

/** The new language is stored before the old one is deleted, so that nothing is lost in between. */
async function storeCaptions(
  { id }: Asset,
  caption: Caption | undefined,
  { fields, options }: Change,
): Promise<void> {
  const language = fields.language.trim();
  const text = fields.file ?? (caption ? await mediary.captions.get(id, caption.language) : '');
  // The label of another language would be wrong, unless somebody wrote it.
  const isNamed =
    fields.label.trim() !== '' && !(isMoved(caption, language) && fields.label === caption?.label);
  const stored = await mediary.captions.put(
    id,
    language,
    {
      text,
      ...(isNamed && { label: fields.label.trim() }),
      kind: fields.hasSounds ? 'captions' : 'subtitles',
      default: fields.isDefault,
    },
    options,
  );
  if (caption && isMoved(caption, stored.language))
    await mediary.captions.delete(id, caption.language, options);
}

const isMoved = (caption: Caption | undefined, language: string): boolean =>
  caption !== undefined && caption.language.toLowerCase() !== language.toLowerCase();
