// Removes everything that is kept of an owner, and shows how far it is and the signed receipt.
import { Alert, Group, List, Progress, Stack, Text } from '@mantine/core';
import type { Erasure as ErasureJson } from '@mediary/contract/schemas/admin/owners';
import { useQuery } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { eraseOwner, erasureQuery, saveReceipt } from '../../api/owners.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { formatCount, formatCountOf } from '../../parts/format.ts';
import { Loaded, Section } from '../../parts/section.tsx';
import { Time } from '../../parts/time.tsx';
import { toOwnerPage } from './owner-address.ts';

export function EraseOwner({ owner }: { readonly owner: string }) {
  const [, navigate] = useLocation();
  return (
    <Section
      title="Erase"
      about="Removes all assets, their bytes, copies at providers, events and limits, for good."
      aside={
        <ConfirmButton
          label="Erase this owner"
          title="Erase this owner?"
          confirm="Erase everything"
          typed={owner}
          action={() => eraseOwner(owner)}
          onDone={({ id }) => {
            navigate(toOwnerPage(owner, { erasure: id }));
            window.scrollTo({ top: 0 });
          }}
          button={{ color: 'red.9', variant: 'filled' }}
        >
          Everything of this owner is removed at once, also what is in the trash. It cannot be undone: export
          the owner first if somebody may need it.
        </ConfirmButton>
      }
    >
      {null}
    </Section>
  );
}

type ErasureProps = { readonly owner: string; readonly id: string };

export function Erasure({ owner, id }: ErasureProps) {
  const query = useQuery(erasureQuery(owner, id));
  return (
    <Section
      title="Erasure"
      about={
        query.data && (
          <>
            Requested <Time at={query.data.requested_at} />
          </>
        )
      }
    >
      <Loaded query={query}>
        {(erasure) =>
          erasure.receipt === null ? (
            <Running erasure={erasure} />
          ) : (
            <Completed owner={owner} erasure={erasure} statement={erasure.receipt.statement} />
          )
        }
      </Loaded>
    </Section>
  );
}

const PHASES = {
  closing: 'Closing: the assets stop playing.',
  removing: 'Removing bytes, copies and rows.',
  verifying: 'Removing everything once more, in case a request stored something meanwhile.',
  completed: 'Completed.',
} as const;

const REASONS: Readonly<Record<string, string>> = {
  provider: 'until the provider confirms the removal',
  cdn: 'until the CDN confirms the purge',
  encoder: 'until the encoder ends its jobs',
  jobs: 'until workers end their jobs',
  upload_urls: 'until the upload URLs have expired',
  legal_hold: 'until the legal hold is released',
};

function Running({ erasure: { phase, counts, waiting } }: { readonly erasure: ErasureJson }) {
  const { asset_count: all, removed_asset_count: removed } = counts;
  return (
    <Stack gap="xs" role="status">
      <Text size="sm">
        {PHASES[phase]} {formatCount(removed)} of {formatCountOf(all, 'asset is', 'assets are')} removed.
      </Text>
      <Progress value={all === 0 ? 0 : (100 * removed) / all} animated aria-label="Removed assets" />
      <List size="sm">
        {waiting.map(({ reason, asset_count: count, provider, error }) => (
          <List.Item key={`${reason} ${provider}`}>
            {formatCountOf(count, 'asset waits', 'assets wait')} {REASONS[reason] ?? `for ${reason}`}
            {provider !== undefined && ` (${provider})`}
            {error && `: ${error}`}
          </List.Item>
        ))}
      </List>
    </Stack>
  );
}

type CompletedProps = {
  readonly owner: string;
  readonly erasure: ErasureJson;
  readonly statement: string;
};

const Completed = ({ owner, erasure: { id, counts }, statement }: CompletedProps) => (
  <Alert color="teal" title="Everything is removed">
    <Stack gap="sm">
      <Text size="sm">
        {formatCountOf(counts.removed_asset_count, 'asset is', 'assets are')} removed. The receipt proves it:
        keep it, because this page is the only one that links to it.
      </Text>
      <Group>
        <ActionButton
          label="Save the receipt"
          done="The receipt is complete."
          action={() => saveReceipt(owner, id)}
        />
      </Group>
      <CopyText label="the signed statement" text={statement} />
    </Stack>
  </Alert>
);
