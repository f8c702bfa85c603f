// A form that edits members of an asset, and saves them as one change.
import type { Asset, UpdateAssetRequest } from '@mediary/client';
import { isMediaryError } from '@mediary/client';
import { Button, Group, Stack, Text } from '@mantine/core';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { refreshAssets } from '../../../api/assets.ts';
import { mediary } from '../../../api/mediary.ts';
import { Problem } from '../../../parts/problem.tsx';
import { ownerOptions } from '../../../parts/use-action.ts';

type EditFormProps<Fields> = {
  readonly asset: Asset;
  readonly session: ConsoleSession;
  readonly fieldsOf: (asset: Asset) => Fields;
  /** Throws for what is no request. */
  readonly toRequest: (fields: Fields) => UpdateAssetRequest;
  readonly children: (fields: Fields, set: (members: Partial<Fields>) => void) => ReactNode;
};

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** What was edited after it was sent stays. */
function mergeSaved<Fields extends object>(
  current: Fields,
  { sent, saved }: { readonly sent: Fields; readonly saved: Fields },
): Fields {
  const merged = { ...saved };
  for (const name of Object.keys(current) as (keyof Fields)[])
    if (!isSame(current[name], sent[name])) merged[name] = current[name];
  return merged;
}

/** Starts with the current version. What others change meanwhile shows at once, unless it was edited here. */
export function EditForm<Fields extends object>(props: EditFormProps<Fields>) {
  const { asset, fieldsOf, children } = props;
  const [base, setBase] = useState(asset);
  const [fields, setFields] = useState(() => fieldsOf(asset));
  const isEdited = !isSame(fields, fieldsOf(base));
  const load = (current: Asset): void => {
    setBase(current);
    setFields(fieldsOf(current));
  };
  if (!isEdited && base.version < asset.version) load(asset);
  const save = useSave(base, props, (saved, sent) => {
    setBase(saved);
    setFields((current) => mergeSaved(current, { sent, saved: fieldsOf(saved) }));
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    save.mutate(fields);
  };
  const isStale = isMediaryError(save.error) && save.error.status === 412;
  return (
    <Stack component="form" onSubmit={submit}>
      {children(fields, (members) => setFields({ ...fields, ...members }))}
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

function useSave<Fields>(
  base: Asset,
  { session, toRequest }: EditFormProps<Fields>,
  onSaved: (asset: Asset, sent: Fields) => void,
) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (fields: Fields) =>
      mediary.media.update(base.id, toRequest(fields), {
        ...ownerOptions(session, base),
        ifMatch: base.version,
      }),
    onSuccess: (saved, sent) => {
      // The response has no collections, which an edit does not change.
      queries.setQueryData<Asset>(['assets', base.id], (known) => ({ ...known, ...saved }));
      onSaved(saved, sent);
    },
    onSettled: () => refreshAssets(queries),
  });
}
