// Cuts a part of a video into an asset of its own.
import { Button, Group, NumberInput, RangeSlider, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { refreshAssets } from '../../../api/assets.ts';
import { mediary } from '../../../api/mediary.ts';
import { formatTime } from '../../../parts/format.ts';
import { Problem } from '../../../parts/problem.tsx';
import { ownerOptions } from '../../../parts/use-action.ts';
import type { EditorProps } from './asset-editor.tsx';
import { FrameStrip } from './frame-strip.tsx';
import { type Frames, useFrames } from './frames.ts';
import { PREVIEW_AFTER_MS, STEP_MS } from './poster-picker.tsx';

type Range = [number, number];

/** The service cuts no shorter clips. */
const MIN_CLIP_MS = 500;
const SIDE_WIDTH = 320;

export function ClipCutter({ asset, session, duration }: EditorProps & { readonly duration: number }) {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const frames = useFrames(asset.id);
  const [range, setRange] = useState<Range>([0, duration]);
  const [title, setTitle] = useState('');
  const [start, end] = range;
  const cut = useMutation({
    mutationFn: () => {
      const request = { start_ms: start, end_ms: end, ...(title.trim() !== '' && { title }) };
      return mediary.media.clip(asset.id, request, ownerOptions(session, asset));
    },
    onSuccess: ({ id }) => navigate(`/assets/${id}`),
    onSettled: () => refreshAssets(queries),
  });
  if (duration < MIN_CLIP_MS) return <Text size="sm">The video is too short for a clip.</Text>;
  return (
    <Stack gap="sm">
      {frames.error !== null && <Problem error={frames.error} />}
      <Ends range={range} frames={frames} duration={duration} onChange={setRange} />
      <FrameStrip frames={frames} duration={duration} onPick={(ms) => setRange(moveNearest(range, ms))} />
      <RangeSlider
        value={range}
        onChange={setRange}
        min={0}
        max={duration}
        step={STEP_MS}
        minRange={MIN_CLIP_MS}
        label={formatTime}
        thumbFromLabel="Start of the clip"
        thumbToLabel="End of the clip"
      />
      <TextInput
        label="Title of the clip"
        dir="auto"
        value={title}
        onChange={({ currentTarget }) => setTitle(currentTarget.value)}
      />
      {cut.error && <Problem error={cut.error} />}
      <Group>
        <Button loading={cut.isPending} onClick={() => cut.mutate()}>
          Create a clip of {formatTime(end - start)}
        </Button>
      </Group>
    </Stack>
  );
}

/** The handle that is nearer moves. */
function moveNearest([start, end]: Range, ms: number): Range {
  const isStart = Math.abs(ms - start) <= Math.abs(ms - end);
  return isStart ? [Math.min(ms, end - MIN_CLIP_MS), end] : [start, Math.max(ms, start + MIN_CLIP_MS)];
}

type EndsProps = {
  readonly range: Range;
  readonly frames: Frames;
  readonly duration: number;
  readonly onChange: (range: Range) => void;
};

function Ends({ range: [start, end], frames, duration, onChange }: EndsProps) {
  return (
    <SimpleGrid cols={2} spacing="sm">
      <End
        label="Start (s)"
        ms={start}
        frames={frames}
        duration={duration}
        min={0}
        max={end - MIN_CLIP_MS}
        onChange={(ms) => onChange([ms, end])}
      />
      <End
        label="End (s)"
        ms={end}
        frames={frames}
        duration={duration}
        min={start + MIN_CLIP_MS}
        max={duration}
        onChange={(ms) => onChange([start, ms])}
      />
    </SimpleGrid>
  );
}

type EndProps = {
  readonly label: string;
  readonly ms: number;
  readonly frames: Frames;
  readonly duration: number;
  readonly min: number;
  readonly max: number;
  /** Between `min` and `max`. */
  readonly onChange: (ms: number) => void;
};

function End({ label, ms, frames: { frameUrl }, duration, min, max, onChange }: EndProps) {
  // The first digits of a number may be out of range.
  const [typed, setTyped] = useState<number | string>();
  const type = (value: number | string): void => {
    setTyped(value);
    const typedMs = toMs(value);
    if (typedMs !== undefined && typedMs >= min && typedMs <= max) onChange(typedMs);
  };
  const finish = (): void => {
    const typedMs = toMs(typed);
    setTyped(undefined);
    if (typedMs !== undefined) onChange(Math.min(max, Math.max(min, typedMs)));
  };
  const [shownMs] = useDebouncedValue(ms, PREVIEW_AFTER_MS);
  // The last frame plays shortly before the end.
  const pictureMs = Math.max(0, Math.min(shownMs, duration - STEP_MS));
  return (
    <Stack gap={6} style={{ minWidth: 0 }}>
      {frameUrl && (
        <img
          className="frame-preview"
          src={frameUrl(pictureMs, SIDE_WIDTH)}
          alt={`The frame at ${formatTime(pictureMs)}`}
        />
      )}
      <NumberInput
        label={label}
        value={typed ?? ms / 1000}
        onChange={type}
        onBlur={finish}
        min={min / 1000}
        max={max / 1000}
        step={STEP_MS / 1000}
        decimalScale={3}
        clampBehavior="none"
      />
    </Stack>
  );
}

const toMs = (seconds: number | string | undefined): number | undefined =>
  typeof seconds === 'number' ? Math.round(seconds * 1000) : undefined;
