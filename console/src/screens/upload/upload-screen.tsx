// Many files, whole folders and URLs, with one row for each from its bytes to the encoded asset.
import { Anchor, Button, Group, Stack, Text, Title } from '@mantine/core';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { useState } from 'react';
import { Link } from 'wouter';
import {
  pauseUpload,
  removeUpload,
  resumeUpload,
  type Upload,
  type UploadSettings,
  useUploads,
} from '../../api/uploads.ts';
import { FileDrop } from '../start/file-drop.tsx';
import { useMediaFiles } from '../start/media-files.tsx';
import { UploadRow } from '../start/upload-row.tsx';
import { FolderButton } from './folder-button.tsx';
import { UploadOptions } from './upload-options.tsx';
import { UrlForm } from './url-form.tsx';

/** Rows are heavy: of more, the newest are shown. */
const ROWS = 100;

export function UploadScreen({ session }: { readonly session: ConsoleSession }) {
  const uploads = useUploads();
  const [settings, setSettings] = useState<UploadSettings>({});
  const [shown, setShown] = useState(ROWS);
  const { add, notice } = useMediaFiles(session, settings);
  return (
    <Stack gap="lg" maw={960} mx="auto">
      <div>
        <Title order={1} size="h2">
          Upload files
        </Title>
        <Text c="dimmed">
          Uploads go on while you look at other screens. After a reload choose the same files again: what was
          sent is not sent twice.
        </Text>
      </div>
      <UploadOptions session={session} settings={settings} onChange={setSettings} />
      <FileDrop onFiles={add} />
      <Group gap="sm">
        <FolderButton onFiles={add} />
      </Group>
      <UrlForm session={session} settings={settings} />
      {notice}
      {uploads.length > 0 && <Summary uploads={uploads} />}
      <Stack gap="sm" component="section" aria-label="Uploads">
        {uploads.slice(0, shown).map((upload) => (
          <UploadRow key={upload.key} upload={upload} hasPlayer={false} />
        ))}
      </Stack>
      {uploads.length > shown && (
        <Group justify="center">
          <Button variant="default" onClick={() => setShown(shown + ROWS)}>
            Show {Math.min(ROWS, uploads.length - shown)} more
          </Button>
        </Group>
      )}
    </Stack>
  );
}

const isSending = ({ state, handle }: Upload): boolean =>
  handle !== undefined && (state === 'uploading' || state === 'waiting');
const isPaused = ({ state }: Upload): boolean => state === 'paused';
const hasFailed = ({ state }: Upload): boolean => state === 'failed';
const isSent = ({ state }: Upload): boolean => state === 'done';

function Summary({ uploads }: { readonly uploads: readonly Upload[] }) {
  const sending = uploads.filter(isSending);
  const paused = uploads.filter(isPaused);
  const failed = uploads.filter(hasFailed);
  const sent = uploads.filter(isSent);
  const doAll = (some: readonly Upload[], act: (upload: Upload) => void) => () => {
    for (const upload of some) act(upload);
  };
  return (
    <Group justify="space-between">
      <Text size="sm" role="status">
        {[
          `${sent.length} of ${uploads.length} sent`,
          ...(paused.length > 0 ? [`${paused.length} paused`] : []),
          ...(failed.length > 0 ? [`${failed.length} failed`] : []),
        ].join(', ')}
        .{' '}
        <Anchor component={Link} href="/library" size="sm" underline="always">
          Show the library
        </Anchor>
      </Text>
      <Group gap="xs">
        <AllButton label="Pause all" count={sending.length} onClick={doAll(sending, pauseUpload)} />
        <AllButton label="Resume all" count={paused.length} onClick={doAll(paused, resumeUpload)} />
        <AllButton
          label="Retry the failed"
          count={failed.length}
          onClick={doAll(failed, ({ retry }) => retry())}
        />
        <AllButton label="Clear the sent" count={sent.length} onClick={doAll(sent, removeUpload)} />
      </Group>
    </Group>
  );
}

type AllProps = { readonly label: string; readonly count: number; readonly onClick: () => void };

const AllButton = ({ label, count, onClick }: AllProps) =>
  count > 0 && (
    <Button size="xs" variant="default" onClick={onClick}>
      {label}
    </Button>
  );
