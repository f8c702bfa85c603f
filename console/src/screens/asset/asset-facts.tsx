// What the file contains, and how it is kept.
import type { AccessRules, Asset } from '@mediary/client';
import { ActionIcon, Badge, CopyButton, Group, Paper, Table, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { formatBytes, formatCountOf, formatDuration } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { Time } from '../../parts/time.tsx';

export const AssetFacts = ({ asset }: { readonly asset: Asset }) => (
  <Paper withBorder p="md" component="section">
    <Title order={2} size="h4" mb="xs">
      File
    </Title>
    <Table className="facts" layout="fixed" verticalSpacing={4} withRowBorders={false}>
      <Table.Tbody>
        {factsOf(asset).map(([label, value]) => (
          <Table.Tr key={label}>
            <Table.Th w={120} c="dimmed" fw={400}>
              {label}
            </Table.Th>
            <Table.Td className="break-anywhere">{value}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Paper>
);

type Fact = readonly [string, ReactNode];

function factsOf(asset: Asset): Fact[] {
  const { width, height, duration_ms: duration, size_bytes: size, media, provider, tags } = asset;
  const facts: (Fact | undefined)[] = [
    ['Id', <Copied key="id" text={asset.id} />],
    asset.external_id === null ? undefined : ['Your id', asset.external_id],
    [
      'File name',
      <span key="name" dir="auto">
        {asset.filename}
      </span>,
    ],
    ['Type', asset.mime_type],
    size === null ? undefined : ['Size', formatBytes(size)],
    width === null || height === null ? undefined : ['Picture', `${width} × ${height}`],
    duration === null ? undefined : ['Duration', formatDuration(duration)],
    media?.video ? ['Video', describeVideo(media.video)] : undefined,
    media && media.audio.length > 0 ? ['Audio', media.audio.map(describeAudio).join(' · ')] : undefined,
    media?.photo ? ['Photo', describePhoto(media.photo)] : undefined,
    ['Visibility', asset.visibility],
    asset.access === null ? undefined : ['Access', describeAccess(asset.access)],
    provider === null ? undefined : ['Provider', provider],
    tags.length === 0 ? undefined : ['Tags', <Tags key="tags" tags={tags} />],
    ['Created', <Time key="created" at={asset.created_at} />],
    asset.ready_at === null ? undefined : ['Ready', <Time key="ready" at={asset.ready_at} />],
  ];
  return facts.filter((fact) => fact !== undefined);
}

const describeAccess = ({ referrers, networks, countries, downloads }: AccessRules): string =>
  [
    referrers && `on ${referrers.join(', ')}`,
    networks && `from ${networks.join(', ')}`,
    countries && `in ${countries.join(', ')}`,
    downloads === false && 'no downloads',
  ]
    .filter(Boolean)
    .join('; ');

type Media = NonNullable<Asset['media']>;

/** The time is the camera's own: no zone of the reader changes it. */
const describePhoto = ({ camera, taken_at: takenAt, location }: NonNullable<Media['photo']>): string =>
  [
    camera,
    takenAt?.replace('T', ' '),
    location === null ? undefined : `${location.latitude}, ${location.longitude}`,
  ]
    .filter(Boolean)
    .join(' · ') || 'no camera named';

const describeVideo = ({ codec, fps, hdr, bit_depth: depth }: NonNullable<Media['video']>): string =>
  [
    codec,
    fps === null ? undefined : `${Math.round(fps * 100) / 100} frames/s`,
    hdr ? 'HDR' : 'SDR',
    `${depth} bit`,
  ]
    .filter((text) => text !== undefined)
    .join(', ');

const describeAudio = ({
  codec,
  channels,
  language,
  loudness_lufs: loudness,
  gain_db: gain,
}: Media['audio'][number]): string =>
  [
    codec,
    channels === null ? undefined : formatCountOf(channels, 'channel'),
    language,
    loudness === null ? undefined : `${loudness} LUFS`,
    gain === null ? undefined : `played at ${gain < 0 ? '' : '+'}${gain} dB`,
  ]
    .filter(Boolean)
    .join(', ');

/** Tags may be longer than the column. */
const LONG_TAG = { root: { flexShrink: 1, minWidth: 0, maxWidth: '100%' } };

const Tags = ({ tags }: { readonly tags: readonly string[] }) => (
  <Group gap={4}>
    {tags.map((tag) => (
      <Badge key={tag} variant="default" title={tag} dir="auto" styles={LONG_TAG}>
        {tag}
      </Badge>
    ))}
  </Group>
);

const Copied = ({ text }: { readonly text: string }) => (
  <Group gap={4} wrap="nowrap">
    <Text size="sm" className="break-anywhere">
      {text}
    </Text>
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <ActionIcon variant="subtle" color={copied ? 'teal' : 'gray'} onClick={copy} aria-label="Copy the id">
          <Icon name="copy" size={16} />
        </ActionIcon>
      )}
    </CopyButton>
  </Group>
);
