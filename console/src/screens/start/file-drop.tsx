// Takes files that are dropped, chosen or pasted.
import { Button, Group, Stack, Text } from '@mantine/core';
import { Dropzone } from '@mantine/dropzone';
import { useEffect, useRef } from 'react';
import { Icon } from '../../parts/icon.tsx';

/** What the dialog offers; the service decides. Some systems do not know the types of the extensions. */
const OFFERED = 'image/*,video/*,audio/*,.heic,.heif,.avif,.mkv,.mts,.m2ts,.flac,.opus';

export function FileDrop({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }) {
  const open = useRef<() => void>(null);
  usePastedFiles(onFiles);
  return (
    <Dropzone
      onDrop={onFiles}
      openRef={open}
      inputProps={{ 'aria-label': 'Files to upload', accept: OFFERED }}
      p="xl"
    >
      <Stack align="center" gap="xs">
        <Icon name="upload" size={36} />
        <Text size="lg" fw={600} ta="center">
          Drop images, videos and audio files here
        </Text>
        <Text size="sm" c="dimmed">
          or paste them, or
        </Text>
        <Group>
          <Button onClick={() => open.current?.()} style={{ pointerEvents: 'all' }}>
            Choose files
          </Button>
        </Group>
      </Stack>
    </Dropzone>
  );
}

function usePastedFiles(onFiles: (files: readonly File[]) => void): void {
  const latest = useRef(onFiles);
  useEffect(() => {
    latest.current = onFiles;
  });
  useEffect(() => {
    const paste = ({ clipboardData }: ClipboardEvent) => {
      const files = [...(clipboardData?.files ?? [])];
      if (files.length > 0) latest.current(files);
    };
    document.addEventListener('paste', paste);
    return () => document.removeEventListener('paste', paste);
  }, []);
}
