// The limits of an owner: those of the settings, or others for this owner alone.
import { Button, Group, NumberInput, Select, SimpleGrid, Stack } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { OwnerLimits as Limits, OwnerLimitsRequest } from '@mediary/contract/schemas/admin/usage';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useOperatorAction } from '../../api/operators.ts';
import { limitsQuery, setLimits } from '../../api/owners.ts';
import { Problem } from '../../parts/problem.tsx';
import { Loaded, Section } from '../../parts/section.tsx';

export function OwnerLimits({ owner }: { readonly owner: string }) {
  const query = useQuery(limitsQuery(owner));
  return (
    <Section title="Limits" about="What exists above a new limit is kept; only further uploads are rejected.">
      <Loaded query={query}>
        {(limits) => <LimitsForm key={JSON.stringify(limits.overrides)} limits={limits} />}
      </Loaded>
    </Section>
  );
}

type Name = keyof OwnerLimitsRequest;

const GIGABYTE = 1_000_000_000;
const FIELDS: readonly { readonly name: Name; readonly label: string; readonly unit: number }[] = [
  { name: 'max_bytes', label: 'Bytes, in GB', unit: GIGABYTE },
  { name: 'max_assets', label: 'Assets', unit: 1 },
  { name: 'max_pending', label: 'Open uploads', unit: 1 },
];

const CHOICES = [
  { value: 'settings', label: 'As in the settings' },
  { value: 'none', label: 'No limit' },
  { value: 'own', label: 'A limit of its own' },
];

function LimitsForm({ limits }: { readonly limits: Limits }) {
  const [overrides, setOverrides] = useState<OwnerLimitsRequest>(limits.overrides);
  const save = useOperatorAction(
    () => setLimits(limits.owner_user_id, overrides),
    () => notifications.show({ message: 'The limits are set.' }),
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  const set = (name: Name) => (value: number | null | undefined) => {
    const { [name]: _replaced, ...others } = overrides;
    setOverrides(value === undefined ? others : { ...others, [name]: value });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <SimpleGrid cols={{ base: 1, sm: 3 }}>
          {FIELDS.map(({ name, label, unit }) => (
            <LimitField
              key={name}
              label={label}
              unit={unit}
              inForce={limits.limits[name]}
              value={overrides[name]}
              onChange={set(name)}
            />
          ))}
        </SimpleGrid>
        {save.error && <Problem error={save.error} />}
        <Group justify="flex-end">
          <Button type="submit" loading={save.isPending}>
            Save the limits
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

type FieldProps = {
  readonly label: string;
  readonly unit: number;
  readonly inForce: number | null;
  /** Undefined: as in the settings; null: no limit. */
  readonly value: number | null | undefined;
  readonly onChange: (value: number | null | undefined) => void;
};

function LimitField({ label, unit, inForce, value, onChange }: FieldProps) {
  const choose = (choice: string | null) =>
    onChange(choice === 'own' ? (inForce ?? 0) : choice === 'none' ? null : undefined);
  const choice = value === undefined ? 'settings' : value === null ? 'none' : 'own';
  return (
    <Stack gap="xs">
      <Select label={label} data={CHOICES} value={choice} onChange={choose} allowDeselect={false} />
      {typeof value === 'number' && (
        <NumberInput
          aria-label={`${label}: limit`}
          value={value / unit}
          onChange={(text) => onChange(Math.round(Number(text) * unit))}
          min={0}
          max={Number.MAX_SAFE_INTEGER / unit}
          decimalScale={unit === 1 ? 0 : 9}
          thousandSeparator=","
          required
        />
      )}
    </Stack>
  );
}
