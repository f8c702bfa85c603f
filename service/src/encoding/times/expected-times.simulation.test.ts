// Simulates busy installations: how often a video is ready within the range that its owner saw first.
import { expect, test } from 'vitest';
import { DEFAULT_LADDER } from '../plan/ladder/ladder.ts';
import { estimateWork, type EncodeWork } from './encode-work.ts';
import { estimate, learnSpeed, type TimeSample } from './learned-speed.ts';
import { type OpenEncode, placeEncodes } from './queue-places.ts';

/** Deterministic numbers from 0 to 1 (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296;
  };
}

type Machine = {
  readonly slots: number;
  readonly msPerWork: number;
  /** How much the speed differs between videos: a factor up to this, or one divided by it. */
  readonly spread: number;
  /** Milliseconds between two uploads, on average. */
  readonly everyMs: number;
  /** How much slower it is for the second half, because something else runs too. */
  readonly laterFactor?: number;
};

type Video = {
  readonly id: string;
  readonly arrivesAt: number;
  readonly work: EncodeWork;
  /** Differs from the work: frame rate, motion, codec. */
  readonly firstMs: number;
  readonly restMs: number;
  phase: 'first' | 'rest';
  startedAt: number | undefined;
  endedAt?: number;
  seen?: { at: number; work: number; earliest: number; latest: number };
};

const SIZES = [
  [640, 360],
  [1280, 720],
  [1920, 1080],
  [1080, 1920],
  [3840, 2160],
] as const;
const OVERHEAD_MS = 800;

function createVideos(count: number, machine: Machine, random: () => number): Video[] {
  let arrivesAt = 0;
  return Array.from({ length: count }, (_, index) => {
    arrivesAt += -Math.log(1 - random()) * machine.everyMs;
    const [width, height] = SIZES[Math.floor(random() * SIZES.length)] as (typeof SIZES)[number];
    const duration = 2000 * 50 ** random();
    const work = estimateWork(
      { kind: 'video', duration_ms: duration, width, height, media: null },
      DEFAULT_LADDER,
    );
    const isLater = index > count / 2;
    const speed = machine.msPerWork * (isLater ? (machine.laterFactor ?? 1) : 1);
    const factor = speed * machine.spread ** (2 * random() - 1);
    const isSingle = work.first === work.total;
    return {
      id: String(index),
      arrivesAt,
      work,
      firstMs: OVERHEAD_MS + work.first * factor,
      restMs: isSingle ? 0 : OVERHEAD_MS + (work.total - work.first) * factor,
      phase: 'first',
      startedAt: undefined,
    };
  });
}

const STEP_MS = 500;

/** Each kind of encode has `slots`, and all of them share the machine. */
function simulate(videos: readonly Video[], { slots }: Machine): void {
  const samples: TimeSample[] = [];
  const done = new Map<Video, number>();
  let open: Video[] = [];
  let next = 0;
  for (let now = 0; next < videos.length || open.length > 0; now += STEP_MS) {
    const arrived: Video[] = [];
    while ((videos[next]?.arrivesAt ?? Number.POSITIVE_INFINITY) <= now)
      arrived.push(videos[next++] as Video);
    open.push(...arrived);
    for (const phase of ['rest', 'first'] as const) {
      const queue = open.filter((video) => video.phase === phase);
      const free = slots - queue.filter(({ startedAt }) => startedAt !== undefined).length;
      for (const video of queue.filter(({ startedAt }) => startedAt === undefined).slice(0, free))
        video.startedAt = now;
    }
    if (arrived.length > 0) look(arrived, { open, now, slots, samples, done });
    const running = open.filter(({ startedAt }) => startedAt !== undefined);
    const share = Math.min(1, slots / running.length);
    for (const video of running) done.set(video, (done.get(video) ?? 0) + STEP_MS * share);
    for (const video of running) advance(video, { now: now + STEP_MS, done, samples });
    open = open.filter(({ endedAt }) => endedAt === undefined);
  }
}

type Look = {
  readonly open: readonly Video[];
  readonly now: number;
  readonly slots: number;
  readonly samples: readonly TimeSample[];
  readonly done: ReadonlyMap<Video, number>;
};

function look(arrived: readonly Video[], { open, now, slots, samples, done }: Look): void {
  const encodes = open.map(
    (video): OpenEncode => ({
      assetId: video.id,
      queue: video.phase === 'first' ? 'encode-asset' : 'encode-rest',
      isRunning: video.startedAt !== undefined,
      progress: (100 * (done.get(video) ?? 0)) / (video.firstMs + video.restMs),
      work: video.work,
    }),
  );
  const { byAsset } = placeEncodes(encodes, slots);
  const model = learnSpeed(samples.slice(-40));
  for (const video of arrived) {
    const work = byAsset.get(video.id)?.readyWork ?? 0;
    const { earliestMs, latestMs } = estimate(model, work);
    video.seen = { at: now, work, earliest: now + earliestMs, latest: now + latestMs };
  }
}

type Progress = { readonly now: number; readonly done: Map<Video, number>; readonly samples: TimeSample[] };

function advance(video: Video, { now, done, samples }: Progress): void {
  const ms = done.get(video) ?? 0;
  if (video.phase === 'first' && ms >= video.firstMs && video.restMs > 0)
    Object.assign(video, { phase: 'rest', startedAt: undefined });
  if (ms < video.firstMs + video.restMs) return;
  video.endedAt = now;
  if (video.seen) samples.push({ work: video.seen.work, ms: now - video.seen.at });
}

/** The share of the videos after the first ones. */
function coverage(machine: Machine, seed: number): number {
  const random = createRandom(seed);
  const videos = createVideos(260, machine, random);
  simulate(videos, machine);
  const late = videos.slice(60);
  const inside = late.filter(
    ({ seen, endedAt = 0 }) => seen && seen.earliest <= endedAt && endedAt <= seen.latest,
  );
  return inside.length / late.length;
}

const MACHINES: readonly (readonly [string, Machine])[] = [
  ['a machine with little to do', { slots: 1, msPerWork: 10, spread: 1.6, everyMs: 200_000 }],
  ['a busy machine', { slots: 1, msPerWork: 10, spread: 1.6, everyMs: 60_000 }],
  ['a fast machine', { slots: 4, msPerWork: 2, spread: 2, everyMs: 6000 }],
  ['a slow machine', { slots: 2, msPerWork: 40, spread: 2, everyMs: 150_000 }],
  [
    'a machine that becomes slower',
    { slots: 2, msPerWork: 10, spread: 1.6, everyMs: 60_000, laterFactor: 1.7 },
  ],
  [
    'a machine that becomes faster',
    { slots: 2, msPerWork: 16, spread: 1.6, everyMs: 60_000, laterFactor: 0.5 },
  ],
  ['a burst', { slots: 2, msPerWork: 8, spread: 1.6, everyMs: 300 }],
];

test.each(MACHINES)('on %s, 75 % of 200 videos are ready within their range', (_, machine) => {
  const results = [1, 2, 3].map((seed) => coverage(machine, seed));
  expect(Math.min(...results)).toBeGreaterThanOrEqual(0.75);
});
