// The first page: drop a file, watch it become a video that plays, and see the same as code.
import { Anchor, Group, Stack, Text, Title } from '@mantine/core';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { Link } from 'wouter';
import { useUploads } from '../../api/uploads.ts';
import { CodeTour } from './code-tour.tsx';
import { FileDrop } from './file-drop.tsx';
import { useMediaFiles } from './media-files.tsx';
import { UploadRow } from './upload-row.tsx';

export function Start({ session }: { readonly session: ConsoleSession }) {
  const uploads = useUploads();
  const { add, notice } = useMediaFiles(session);
  return (
    <Stack gap="lg" maw={960} mx="auto">
      <div>
        <Title order={1} size="h2">
          Upload
        </Title>
        <Text c="dimmed">
          Images, videos and audio files. They keep their bytes, and videos play while they are encoded.
        </Text>
      </div>
      <FileDrop onFiles={add} />
      {notice}
      {uploads.length > 0 && (
        <Stack gap="sm" component="section" aria-label="Uploads">
          {uploads.map((upload) => (
            <UploadRow key={upload.key} upload={upload} />
          ))}
          <Group justify="flex-end">
            <Anchor component={Link} href="/library">
              Show the library
            </Anchor>
          </Group>
        </Stack>
      )}
      <CodeTour />
    </Stack>
  );
}
