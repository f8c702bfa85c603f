// The rungs of a video as reports tell of them, merged so that order and repetition do not matter (contract B6).

export const RENDITION_STATES = ['queued', 'encoding', 'failed', 'ready'] as const;

export type Rendition = {
  /** Pixels; what tells one rung from another. */
  readonly height: number;
  readonly width?: number;
  readonly state: (typeof RENDITION_STATES)[number];
  /** Average bits per second; null until known. */
  readonly bitrate?: number | null;
};

/** The union by height; of two that tell of one rung the one further on, and of equals the greater text, so that the result is the same in any order. */
export function mergeRenditions(known: readonly Rendition[], told: readonly Rendition[]): readonly Rendition[] {
  if (told.length === 0) return known;
  const byHeight = new Map(known.map((rendition) => [rendition.height, rendition]));
  for (const rendition of told.map(canonical)) {
    const other = byHeight.get(rendition.height);
    byHeight.set(rendition.height, other ? further(other, rendition) : rendition);
  }
  return [...byHeight.values()].sort((a, b) => b.height - a.height);
}

function further(a: Rendition, b: Rendition): Rendition {
  const lead = RENDITION_STATES.indexOf(a.state) - RENDITION_STATES.indexOf(b.state);
  if (lead !== 0) return lead > 0 ? a : b;
  return JSON.stringify(canonical(a)) >= JSON.stringify(b) ? a : b;
}

/** One order of members and no others, so that equal rungs have equal texts. */
const canonical = ({ height, width, state, bitrate }: Rendition): Rendition => ({
  height, ...(width !== undefined && { width }), state, ...(bitrate !== undefined && { bitrate }),
});
