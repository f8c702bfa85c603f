// The sizes in which a video plays.
import type { Rendition } from '@mediary/client';
import { Badge, Paper, Table, Title } from '@mantine/core';
import { formatBitrate } from '../../parts/format.ts';

const COLORS = { queued: 'gray', encoding: 'blue', failed: 'red', ready: 'teal' } as const;

export const Renditions = ({ renditions }: { readonly renditions: readonly Rendition[] }) => (
  <Paper withBorder p="md" component="section">
    <Title order={2} size="h4" mb="xs">
      Renditions
    </Title>
    <Table.ScrollContainer minWidth={320}>
      <Table verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Size</Table.Th>
            <Table.Th>Codec</Table.Th>
            <Table.Th>Bit rate</Table.Th>
            <Table.Th>State</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {renditions.map(({ height, width, codec, dynamic_range: range, bitrate, state }) => (
            <Table.Tr key={`${height} ${codec} ${range}`}>
              <Table.Td style={{ whiteSpace: 'nowrap' }}>
                {width === null ? `${height}p` : `${width} × ${height}`}
              </Table.Td>
              <Table.Td>
                {codec ?? 'H.264'} {range}
              </Table.Td>
              <Table.Td>{bitrate === null ? '–' : formatBitrate(bitrate)}</Table.Td>
              <Table.Td>
                <Badge variant="dot" color={COLORS[state]}>
                  {state}
                </Badge>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  </Paper>
);
