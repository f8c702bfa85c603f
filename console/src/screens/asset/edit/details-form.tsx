// Title, tags, visibility, metadata and the application's own id.
import type { Asset, UpdateAssetRequest } from '@mediary/client';
import { isMediaryError } from '@mediary/client';
import {
  Button,
  Group,
  Input,
  JsonInput,
  SegmentedControl,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { refreshAssets } from '../../../api/assets.ts';
import { mediary } from '../../../api/mediary.ts';
import { Problem } from '../../../parts/problem.tsx';
import { ownerOptions } from '../../../parts/use-action.ts';
import type { EditorProps } from './asset-editor.tsx';

type Fields = {
  readonly title: string;
  readonly externalId: string;
  readonly tags: string[];
  readonly visibility: Asset['visibility'];
  readonly metadata: string;
};

const fieldsOf = ({ title, external_id: externalId, tags, visibility, metadata }: Asset): Fields => ({
  title: title ?? '',
  externalId: externalId ?? '',
  tags: [...tags],
  visibility,
  metadata: metadata === null ? '' : JSON.stringify(metadata, undefined, 2),
});

const isSame = (one: Fields, other: Fields): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Starts with the current version. What others change meanwhile shows at once, unless it was edited here. */
export function DetailsForm({ asset, session }: EditorProps) {
  const [base, setBase] = useState(asset);
  const [fields, setFields] = useState(() => fieldsOf(asset));
  const isEdited = !isSame(fields, fieldsOf(base));
  const load = (current: Asset): void => {
    setBase(current);
    setFields(fieldsOf(current));
  };
  if (!isEdited && base.version < asset.version) load(asset);
  const save = useSave(base, session, load);
  const set = (members: Partial<Fields>): void => setFields({ ...fields, ...members });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    save.mutate(fields);
  };
  const isStale = isMediaryError(save.error) && save.error.status === 412;
  return (
    <Stack component="form" onSubmit={submit}>
      <Inputs fields={fields} onChange={set} />
      {save.error && (
        <Problem
          error={save.error}
          {...(isStale && {
            onRetry: () => {
              save.reset();
              setBase(asset);
            },
          })}
        />
      )}
      {isStale && (
        <Text size="sm">
          “Try again” keeps what you wrote, so that you can save it over the other change.
        </Text>
      )}
      <Group>
        <Button type="submit" loading={save.isPending} disabled={!isEdited}>
          Save
        </Button>
        {isEdited && (
          <Button variant="default" onClick={() => load(asset)}>
            Discard
          </Button>
        )}
        <Text size="sm" role="status">
          {save.isSuccess && !isEdited ? 'Saved.' : ''}
        </Text>
      </Group>
    </Stack>
  );
}

function useSave(base: Asset, session: EditorProps['session'], onSaved: (asset: Asset) => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (fields: Fields) =>
      mediary.media.update(base.id, toRequest(fields), {
        ...ownerOptions(session, base),
        ifMatch: base.version,
      }),
    onSuccess: (saved) => {
      queries.setQueryData(['assets', base.id], saved);
      onSaved(saved);
    },
    onSettled: () => refreshAssets(queries),
  });
}

/** Throws for metadata that is no JSON object. */
function toRequest({ title, externalId, tags, visibility, metadata }: Fields): UpdateAssetRequest {
  return {
    title: title.trim() === '' ? null : title,
    external_id: externalId.trim() === '' ? null : externalId,
    tags,
    visibility,
    metadata: metadata.trim() === '' ? null : parseMetadata(metadata),
  };
}

function parseMetadata(text: string): Record<string, unknown> {
  const parsed: unknown = JSON.parse(text);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new Error('Metadata is a JSON object, such as {"order": 1042}.');
  return { ...parsed };
}

const VISIBILITIES = [
  { value: 'private', label: 'Private' },
  { value: 'public', label: 'Public' },
];

type InputsProps = { readonly fields: Fields; readonly onChange: (members: Partial<Fields>) => void };

const Inputs = ({ fields: { title, externalId, tags, visibility, metadata }, onChange }: InputsProps) => (
  <>
    <TextInput
      label="Title"
      description="Without one, the file name is shown."
      dir="auto"
      value={title}
      onChange={({ currentTarget }) => onChange({ title: currentTarget.value })}
    />
    <TagsInput
      label="Tags"
      description="Enter adds a tag."
      value={tags}
      onChange={(next) => onChange({ tags: next })}
      acceptValueOnBlur
      clearable
    />
    <Input.Wrapper
      label="Visibility"
      labelElement="div"
      description={
        visibility === 'public'
          ? 'Whoever has the URL can watch it.'
          : 'It plays only through URLs that the service signs.'
      }
    >
      <SegmentedControl
        data={VISIBILITIES}
        value={visibility}
        onChange={(value) => onChange({ visibility: value === 'public' ? 'public' : 'private' })}
        aria-label="Visibility"
        mt={5}
        style={{ display: 'flex', width: 'fit-content' }}
      />
    </Input.Wrapper>
    <TextInput
      label="Your id"
      description="The id that your application has for it. No other asset of the owner can have it."
      value={externalId}
      onChange={({ currentTarget }) => onChange({ externalId: currentTarget.value })}
    />
    <JsonInput
      label="Metadata"
      description="Your own JSON object, at most 16 KiB."
      value={metadata}
      onChange={(next) => onChange({ metadata: next })}
      validationError="This is no valid JSON."
      autosize
      minRows={2}
      maxRows={12}
    />
  </>
);
