// The chapters of a video as text: a line for each one.
import type { Asset } from '@mediary/client';
import { formatChapters, parseChapters } from '@mediary/client';
import { Button, Group, Stack, Text, Textarea } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { refreshAssets, refreshPlayback } from '../../../api/assets.ts';
import { mediary } from '../../../api/mediary.ts';
import { Problem } from '../../../parts/problem.tsx';
import { ownerOptions } from '../../../parts/use-action.ts';
import type { EditorProps } from './asset-editor.tsx';

export function ChaptersEditor({ asset, session }: EditorProps) {
  const queries = useQueryClient();
  const [text, setText] = useState(() => formatChapters(asset.chapters));
  const save = useMutation({
    mutationFn: async (lines: string) => {
      const chapters = parseChapters(lines);
      return mediary.media.update(asset.id, { chapters }, ownerOptions(session, asset));
    },
    onSuccess: ({ chapters }) => setText(formatChapters(chapters)),
    onSettled: () => Promise.all([refreshAssets(queries), refreshPlayback(queries, asset.id)]),
  });
  const current = formatChapters(asset.chapters);
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        {describe(asset)} Players show them on the seek bar and in a menu.
      </Text>
      <Textarea
        label="Chapters"
        description="A line for each chapter: its start and its title."
        placeholder={'0:00 Introduction\n1:05 Demo'}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        autosize
        minRows={4}
        maxRows={16}
      />
      {save.error && <Problem error={save.error} />}
      <Group>
        <Button loading={save.isPending} disabled={text === current} onClick={() => save.mutate(text)}>
          Save
        </Button>
        {text !== current && (
          <Button
            variant="default"
            onClick={() => {
              save.reset();
              setText(current);
            }}
          >
            Discard
          </Button>
        )}
        <Text size="sm" role="status">
          {save.isSuccess && text === current ? 'Saved.' : ''}
        </Text>
      </Group>
    </Stack>
  );
}

function describe({ chapters }: Asset): string {
  if (chapters.length === 0) return 'The video has no chapters.';
  return chapters.length === 1 ? 'The video has one chapter.' : `The video has ${chapters.length} chapters.`;
}
