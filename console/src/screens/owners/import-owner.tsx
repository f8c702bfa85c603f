// Restores an archive of an owner: from this page, or by the command line where it is large.
import { Button, FileInput, Group, List, Stack, Text } from '@mantine/core';
import type { OwnerImport } from '@mediary/contract/schemas/admin/owner-imports';
import { useState } from 'react';
import { useOperatorAction } from '../../api/operators.ts';
import { importOwner } from '../../api/owners.ts';
import { CopyText } from '../../parts/copy-text.tsx';
import { formatCount } from '../../parts/format.ts';
import { Problem } from '../../parts/problem.tsx';
import { Section } from '../../parts/section.tsx';

export function ImportOwner({ owner }: { readonly owner: string }) {
  const [file, setFile] = useState<File | null>(null);
  const act = useOperatorAction(() => importOwner(owner, file));
  return (
    <Section
      title="Import"
      about="Restores a saved archive of this owner under the same ids. Assets that are here do not change."
    >
      <Group align="flex-end">
        <FileInput
          label="Archive"
          placeholder="Choose a file"
          accept=".tar,application/x-tar"
          value={file}
          onChange={setFile}
          clearable
          clearButtonProps={{ 'aria-label': 'Remove the archive' }}
          style={{ flex: '1 1 200px' }}
        />
        <Button
          variant="default"
          disabled={!file}
          loading={act.isPending}
          onClick={() => act.mutate(undefined)}
        >
          Import the archive
        </Button>
      </Group>
      {act.error && <Problem error={act.error} />}
      {act.data && <Report report={act.data} />}
      <Text size="sm">By the command line:</Text>
      <CopyText label="the command of the import" text="npx mediary owners import owner.tar" />
    </Section>
  );
}

/** Further refused assets are in the report of the command line. */
const MAX_SHOWN = 20;

function Report({ report: { counts, problem, items } }: { readonly report: OwnerImport }) {
  const refused = items.filter(({ result }) => result === 'refused');
  return (
    <Stack gap="xs" role="status">
      <Text size="sm" fw={600}>
        {problem ? 'The import is not complete.' : 'The import is complete.'}
      </Text>
      {problem && (
        <Text size="sm" className="break-anywhere">
          {problem.message}
        </Text>
      )}
      <Text size="sm">
        {formatCount(counts.imported_count)} imported, {formatCount(counts.already_there_count)} already
        there, {formatCount(counts.refused_count)} refused
      </Text>
      {refused.length > 0 && (
        <List size="sm">
          {refused.slice(0, MAX_SHOWN).map(({ asset_id: id, message }) => (
            <List.Item key={id} className="break-anywhere">
              {id}: {message}
            </List.Item>
          ))}
        </List>
      )}
    </Stack>
  );
}
