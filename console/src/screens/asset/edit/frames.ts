// Pictures of a video at any time: tiles of its storyboard, or single frames.
import type { Playback } from '@mediary/client';
import { useQuery } from '@tanstack/react-query';
import { framesQuery } from '../../../api/assets.ts';

/** A part of a sprite. */
export type Tile = {
  readonly endMs: number;
  readonly url: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
};

export type Frames = {
  /** Null where the service renders no frames. */
  readonly frameUrl: ((ms: number, width: number) => string) | null;
  readonly tiles: readonly Tile[];
  readonly error: unknown;
};

export function useFrames(id: string): Frames {
  const { data: playback, error } = useQuery(framesQuery(id));
  const storyboard = playback?.storyboard ?? null;
  const { data: tiles = [] } = useQuery({
    queryKey: ['assets', id, 'storyboard', storyboard],
    queryFn: ({ signal }) => readStoryboard(storyboard ?? '', signal),
    enabled: storyboard !== null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return { frameUrl: playback ? frameUrlOf(playback) : null, tiles, error };
}

function frameUrlOf(playback: Playback): Frames['frameUrl'] {
  if (playback.kind !== 'video' || playback.frame === null) return null;
  const { frame } = playback;
  return (ms, width) => {
    const url = new URL(frame);
    url.searchParams.set('t', (ms / 1000).toFixed(1));
    url.searchParams.set('w', String(width));
    return url.href;
  };
}

/** Without a storyboard, single frames take its place. */
async function readStoryboard(url: string, signal: AbortSignal): Promise<readonly Tile[]> {
  const response = await fetch(url, { signal });
  return response.ok ? parseStoryboard(await response.text(), url) : [];
}

const CUE = /--> (?:(\d+):)?(\d\d):(\d\d)\.(\d{3})\s+(\S+)#xywh=(\d+),(\d+),(\d+),(\d+)/g;

function parseStoryboard(vtt: string, base: string): readonly Tile[] {
  return [...vtt.matchAll(CUE)].map(([, hours = '0', minutes, seconds, ms, sprite = '', ...place]) => {
    const [x = 0, y = 0, width = 0, height = 0] = place.map(Number);
    const endMs = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + Number(ms);
    return { endMs, url: new URL(sprite, base).href, x, y, width, height };
  });
}
