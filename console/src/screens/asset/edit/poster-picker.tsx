// Chooses the frame that the thumbnail shows.
import { Button, Group, Slider, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { refreshAssets, refreshPlayback } from '../../../api/assets.ts';
import { mediary } from '../../../api/mediary.ts';
import { formatTime } from '../../../parts/format.ts';
import { Problem } from '../../../parts/problem.tsx';
import { ownerOptions } from '../../../parts/use-action.ts';
import type { EditorProps } from './asset-editor.tsx';
import { FrameStrip } from './frame-strip.tsx';
import { useFrames } from './frames.ts';

const PREVIEW_WIDTH = 640;
/** Each frame that comes into view is rendered. */
export const PREVIEW_AFTER_MS = 250;
export const STEP_MS = 100;

export function PosterPicker({ asset, session, duration }: EditorProps & { readonly duration: number }) {
  const queries = useQueryClient();
  const frames = useFrames(asset.id);
  const last = Math.max(0, Math.floor((duration - 1) / STEP_MS) * STEP_MS);
  const [ms, setMs] = useState(Math.min(last, asset.poster_time_ms ?? 0));
  const [shownMs] = useDebouncedValue(ms, PREVIEW_AFTER_MS);
  const choose = useMutation({
    mutationFn: (time: number | null) =>
      mediary.media.update(asset.id, { poster_time_ms: time }, ownerOptions(session, asset)),
    onSettled: () => Promise.all([refreshAssets(queries), refreshPlayback(queries, asset.id)]),
  });
  const current = asset.poster_time_ms;
  return (
    <Stack gap="sm">
      {frames.error !== null && <Problem error={frames.error} />}
      {frames.frameUrl && (
        <img
          className="frame-preview"
          src={frames.frameUrl(shownMs, PREVIEW_WIDTH)}
          alt={`The frame at ${formatTime(shownMs)}`}
        />
      )}
      <FrameStrip frames={frames} duration={duration} onPick={setMs} />
      <Slider
        value={ms}
        onChange={setMs}
        min={0}
        max={last}
        step={STEP_MS}
        label={formatTime}
        thumbLabel="Time of the poster"
      />
      <Text size="sm" c="dimmed">
        {current === null
          ? 'The service chose the poster.'
          : `The poster is the frame at ${formatTime(current)}.`}
      </Text>
      {choose.error && <Problem error={choose.error} />}
      <Group>
        <Button loading={choose.isPending} disabled={ms === current} onClick={() => choose.mutate(ms)}>
          Use the frame at {formatTime(ms)}
        </Button>
        {current !== null && (
          <Button variant="default" loading={choose.isPending} onClick={() => choose.mutate(null)}>
            Let the service choose
          </Button>
        )}
      </Group>
    </Stack>
  );
}
