// Imports files from URLs.
import { Button, Group, Stack, Textarea } from '@mantine/core';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { type FormEvent, useState } from 'react';
import { addImports, type UploadSettings } from '../../api/uploads.ts';

type UrlProps = { readonly session: ConsoleSession; readonly settings: UploadSettings };

export function UrlForm({ session, settings }: UrlProps) {
  const [text, setText] = useState('');
  const urls = text.split(/\s+/).filter((url) => url !== '');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    addImports(session, urls, settings);
    setText('');
  };
  return (
    <Stack component="form" onSubmit={submit} gap="xs">
      <Textarea
        label="URLs"
        description="One on each line. The service downloads the files itself."
        placeholder="https://files.example.com/launch.mp4"
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        autosize
        minRows={1}
        maxRows={8}
      />
      <Group>
        <Button type="submit" variant="default" disabled={urls.length === 0}>
          {urls.length > 1 ? `Import ${urls.length} files` : 'Import'}
        </Button>
      </Group>
    </Stack>
  );
}
