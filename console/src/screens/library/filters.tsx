// Search and filters of the library.
import { Group, Select, Switch, TagsInput, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { useEffect, useState } from 'react';
import type { AssetFilters } from '../../api/assets.ts';
import { Icon } from '../../parts/icon.tsx';
import { STATE_WORDS } from '../../parts/status.tsx';

type FiltersProps = {
  readonly session: ConsoleSession;
  readonly filters: AssetFilters;
  readonly onChange: (filters: AssetFilters) => void;
};

const KINDS = [
  { value: 'video', label: 'Videos' },
  { value: 'image', label: 'Images' },
  { value: 'audio', label: 'Audio' },
];
export const STATES = (['ready', 'processing', 'pending_upload', 'failed'] as const).map((value) => ({
  value,
  label: STATE_WORDS[value],
}));
const SORTS = [
  { value: '-created_at', label: 'Newest first' },
  { value: 'created_at', label: 'Oldest first' },
  { value: '-updated_at', label: 'Last changed' },
  { value: 'title', label: 'Title A–Z' },
  { value: '-title', label: 'Title Z–A' },
  { value: '-size_bytes', label: 'Largest first' },
  { value: 'size_bytes', label: 'Smallest first' },
  { value: '-duration_ms', label: 'Longest first' },
  { value: 'duration_ms', label: 'Shortest first' },
];

export function Filters({ session, filters, onChange }: FiltersProps) {
  const set = (name: keyof AssetFilters) => (value: string | null) => {
    const { [name]: _replaced, ...others } = filters;
    onChange(value ? { ...others, [name]: value } : others);
  };
  return (
    <Group gap="sm" role="search">
      <SearchField label="Search" placeholder="Title or file name" value={filters.q} onChange={set('q')} />
      {session.kind === 'operator' && (
        <SearchField label="Owner" placeholder="All owners" value={filters.owner} onChange={set('owner')} />
      )}
      <Choice label="Kind" data={KINDS} value={filters.kind} onChange={set('kind')} />
      <Choice label="State" data={STATES} value={filters.stream_status} onChange={set('stream_status')} />
      <TagsInput
        aria-label="Tags"
        placeholder={filters.tag ? '' : 'Tags'}
        value={[filters.tag ?? []].flat()}
        onChange={(tags) => {
          const { tag: _replaced, ...others } = filters;
          onChange(tags.length > 0 ? { ...others, tag: tags } : others);
        }}
        maxTags={10}
        styles={{ inputField: { minWidth: 40 } }}
        leftSection={<Icon name="tag" size={16} />}
        className="filter-wide"
      />
      <Choice label="Order" data={SORTS} value={filters.sort} onChange={set('sort')} />
      <Switch
        label="Trash"
        checked={filters.deleted === true}
        onChange={({ currentTarget: { checked } }) => {
          const { deleted: _replaced, ...others } = filters;
          onChange(checked ? { ...others, deleted: true } : others);
        }}
      />
    </Group>
  );
}

type FieldProps = {
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (value: string | null) => void;
};

const Choice = ({ label, data, value, onChange }: FieldProps & { readonly data: typeof KINDS }) => (
  <Select
    aria-label={label}
    placeholder={label}
    data={data}
    value={value ?? null}
    onChange={onChange}
    clearable
    className="filter"
  />
);

const SEARCH_AFTER_MS = 250;

function SearchField({
  label,
  placeholder,
  value = '',
  onChange,
}: FieldProps & { readonly placeholder: string }) {
  const [text, setText] = useState(value);
  const search = useDebouncedCallback(onChange, SEARCH_AFTER_MS);
  useEffect(() => setText(value), [value]);
  return (
    <TextInput
      aria-label={label}
      placeholder={placeholder}
      leftSection={<Icon name={label === 'Owner' ? 'owners' : 'search'} size={16} />}
      value={text}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value);
        search(currentTarget.value);
      }}
      type="search"
      className="filter-wide"
    />
  );
}
