// What the service finds when it checks its deployment, with a fix for each problem.
import { Alert, Badge, Button, Group, List, Stack, Switch, Text } from '@mantine/core';
import type { Diagnostics } from '@mediary/contract/schemas/admin/diagnostics';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { diagnosticsQuery } from '../../api/health.ts';
import { formatCountOf } from '../../parts/format.ts';
import { Loaded, Section } from '../../parts/section.tsx';
import { Time } from '../../parts/time.tsx';

type Finding = Diagnostics['findings'][number];

/** The worst first. */
const STATUSES = ['problem', 'warning', 'not_checked', 'ok'] as const;
const COLORS = { problem: 'red', warning: 'yellow', not_checked: 'gray', ok: 'teal' } as const;
const WORDS = { problem: 'Problem', warning: 'Warning', not_checked: 'Not checked', ok: 'Fine' } as const;

export function Findings() {
  const [isDeep, setDeep] = useState(false);
  const query = useQuery(diagnosticsQuery(isDeep));
  const { data, isFetching } = query;
  return (
    <Section
      title="Findings"
      about={
        data && (
          <>
            Version {data.version}, checked <Time at={data.checked_at} />
          </>
        )
      }
      aside={
        <>
          <Switch
            label="Also slow checks"
            checked={isDeep}
            onChange={({ currentTarget }) => setDeep(currentTarget.checked)}
          />
          <Button size="xs" variant="default" loading={isFetching} onClick={() => void query.refetch()}>
            Check again
          </Button>
        </>
      }
    >
      {isFetching && !data && (
        <Text size="sm" c="dimmed">
          Checking proxies, storage, database, workers and settings takes up to 30 s.
        </Text>
      )}
      <Loaded query={query}>{({ findings }) => <FindingList findings={findings} />}</Loaded>
    </Section>
  );
}

function FindingList({ findings }: { readonly findings: readonly Finding[] }) {
  const [showsAll, setShowsAll] = useState(false);
  const sorted = STATUSES.flatMap((status) => findings.filter((finding) => finding.status === status));
  const urgent = sorted.filter(({ status }) => status === 'problem' || status === 'warning');
  const others = sorted.slice(urgent.length);
  return (
    <Stack gap="sm">
      <Group gap="xs">
        {STATUSES.map((status) => (
          <Badge key={status} variant="dot" color={COLORS[status]}>
            {WORDS[status]}: {findings.filter((finding) => finding.status === status).length}
          </Badge>
        ))}
      </Group>
      {urgent.length === 0 && <Text size="sm">Nothing has to be done.</Text>}
      {urgent.map((finding) => (
        <Urgent key={`${finding.check} ${finding.message}`} finding={finding} />
      ))}
      {others.length > 0 && (
        <Group>
          <Button size="xs" variant="default" aria-expanded={showsAll} onClick={() => setShowsAll(!showsAll)}>
            {showsAll ? 'Hide what is fine' : `Show ${formatCountOf(others.length, 'other check')}`}
          </Button>
        </Group>
      )}
      {showsAll && (
        <List size="sm" spacing={6} listStyleType="none">
          {others.map(({ check, status, message }) => (
            <List.Item key={`${check} ${message}`} className="break-anywhere">
              <Badge variant="dot" color={COLORS[status]} mr="xs">
                {check}
              </Badge>
              {message}
            </List.Item>
          ))}
        </List>
      )}
    </Stack>
  );
}

const Urgent = ({ finding: { check, status, message, fix } }: { readonly finding: Finding }) => (
  <Alert color={COLORS[status]} title={`${WORDS[status]}: ${check}`}>
    <Text size="sm" className="break-anywhere">
      {message}
    </Text>
    {fix !== null && (
      <Text size="sm" mt={6} className="break-anywhere">
        <b>Fix:</b> {fix}
      </Text>
    )}
  </Alert>
);
