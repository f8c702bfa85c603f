// Title, tags, visibility, metadata and the application's own id.
import type { Asset, UpdateAssetRequest } from '@mediary/client';
import { Input, JsonInput, SegmentedControl, TagsInput, TextInput } from '@mantine/core';
import type { EditorProps } from './asset-editor.tsx';
import { EditForm } from './edit-form.tsx';

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

export const DetailsForm = ({ asset, session }: EditorProps) => (
  <EditForm asset={asset} session={session} fieldsOf={fieldsOf} toRequest={toRequest}>
    {(fields, onChange) => <Inputs fields={fields} onChange={onChange} />}
  </EditForm>
);

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
          ? 'Anyone with the URL can watch it.'
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
