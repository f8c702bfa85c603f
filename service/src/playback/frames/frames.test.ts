// Tests the limits of frames: what is stored, refused and removed; store and encoder are fakes.
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Asset } from '../../assets/asset.ts';
import { createEncodingContext } from '../../encoding/context.fixture.ts';
import { EncodeError, type ExtraRequest } from '../../encoding/encoder.ts';
import { formatIndex, INDEX_NAME } from '../../encoding/packaging/run-index.ts';
import { pictureTrack } from '../../encoding/packaging/tracks.fixture.ts';
import { createVideo } from '../../lifecycle/asset.fixture.ts';
import { createSingleFlight } from '../../platform/concurrency/single-flight.ts';
import { openFairSlots } from '../../platform/process/fair-slots.ts';
import type { ObjectKey } from '../../storage/object-key.ts';
import { createPlaybackContext, SETTINGS } from '../context.fixture.ts';
import type { FrameLimits, ServingContext } from '../context.ts';
import { readIndex } from '../../encoding/stored-index.ts';
import { openManifests } from '../rendered-manifests.ts';
import { findFrame } from './frames.ts';

let scratchRoot: string;
beforeAll(async () => {
  scratchRoot = await mkdtemp(join(tmpdir(), 'mediary-frames-'));
});
afterAll(() => rm(scratchRoot, { recursive: true, force: true }));

const video = createVideo({ playback: { kind: 'own', attempt: 1, folder: '1-2' }, duration_ms: 8000 });
const FILES = {
  [INDEX_NAME]: formatIndex({
    frameRate: { numerator: 25, denominator: 1 },
    tracks: [
      pictureTrack(0, { width: 640, height: 360, seconds: [4, 4] }),
      pictureTrack(1, { width: 1280, height: 720, seconds: [8] }),
    ],
    early: [0],
  }),
  'r0-init.mp4': 'init',
  'r0-00001.m4s': 'one',
  'r0-00002.m4s': 'two',
  'r1-init.mp4': 'INIT',
  'r1-00001.m4s': 'ONE',
};

const createStore = (files: Map<string, string>): Partial<ServingContext['store']> => ({
  size: async (key) => files.get(key)?.length,
  stream: (key) => Readable.from([Buffer.from(files.get(key) ?? '')]),
  async put(key, bytes) {
    files.set(key, (await Readable.from(bytes).toArray()).join(''));
    return { sizeBytes: 1, sha256: '' };
  },
  remove: async (key) => void files.delete(key),
  async removeAll(prefix) {
    for (const key of files.keys()) if (key.startsWith(prefix)) files.delete(key);
    return 0;
  },
  async *listSizes(prefix) {
    for (const [key, text] of files)
      if (key.startsWith(prefix))
        yield { key: key as ObjectKey, sizeBytes: text.length, modifiedAt: new Date() };
  },
});

type Fakes = {
  readonly onRender?: (request: ExtraRequest) => Promise<void> | void;
  readonly limits?: Partial<FrameLimits>;
  readonly settings?: Partial<ServingContext['settings']>;
  readonly found?: () => Asset;
};

function setUp({ onRender = () => {}, limits, settings, found = () => video }: Fakes = {}) {
  const files = new Map(
    Object.entries(FILES).map(([name, text]) => [`renditions/${video.id}/1-2/${name}`, text]),
  );
  const rendered: ExtraRequest[] = [];
  const store = createStore(files);
  const context = createPlaybackContext({
    store,
    manifests: openManifests({
      now: () => new Date(),
      encoding: {
        readIndex: (run) => readIndex(createEncodingContext({ store }), run),
        findGrowingIndex: async () => undefined,
      },
    }),
    settings: { ...SETTINGS, scratchRoot, ...settings },
    encoder: {
      async createExtra(request) {
        rendered.push(request);
        await onRender(request);
        await writeFile(request.output, 'jpeg');
      },
    },
    lifecycle: { findAssetById: async () => found() },
    frameLimits: {
      takeRendering: async () => undefined,
      acquireSlot: openFairSlots(2).addGroup({ perOwner: 1, maxWaiting: 1, waitMs: 5000 }),
      inFlight: createSingleFlight({ maxConcurrent: 64 }),
      maxFrames: 2,
      ...limits,
    },
  });
  const frame = (tenths: number, width = 320, asset: Asset = video) =>
    findFrame(context, asset, { tenths, width });
  const stored = () => [...files.keys()].filter((key) => key.startsWith('variants/'));
  return { files, rendered, frame, stored };
}
const keyOf = (name: string) => ({ key: `variants/${video.id}/${name}` });

describe('a frame', () => {
  test('is rendered once from the smallest rendition that is wide enough', async () => {
    const { frame, rendered } = setUp();
    expect(await frame(45)).toEqual(keyOf('frame-1-2-45-320.jpg'));
    expect(await frame(45)).toEqual(keyOf('frame-1-2-45-320.jpg'));
    await frame(10, 960);
    expect(rendered).toMatchObject([
      { kind: 'frame', seconds: 0.5, frameRate: 25, width: 320 },
      { kind: 'frame', seconds: 1, width: 960 },
    ]);
    expect(await readdir(scratchRoot)).toEqual([]);
  });

  test('after the last one is the last one', async () => {
    const { frame, rendered } = setUp();
    await frame(80);
    expect(rendered).toMatchObject([{ seconds: expect.closeTo(3.98) }]);
  });

  test('is rendered once for several viewers at the same time', async () => {
    const { frame, rendered } = setUp();
    await Promise.all([frame(1), frame(1), frame(1)]);
    expect(rendered).toHaveLength(1);
  });

  test('above the limits of the video is not rendered: the nearest stored one takes its place', async () => {
    const { frame, rendered, stored } = setUp();
    for (const tenths of [10, 40]) await frame(tenths);
    expect(await frame(11)).toEqual({ nearest: { tenths: 10, width: 320 } });
    expect(await frame(70, 1280)).toEqual({ nearest: { tenths: 40, width: 320 } });
    expect(await frame(40)).toEqual(keyOf('frame-1-2-40-320.jpg'));
    expect([rendered.length, stored().length]).toEqual([2, 2]);
    const full = setUp({ settings: { maxVariantBytes: 4 } });
    await full.frame(1);
    expect(await full.frame(2)).toEqual({ nearest: { tenths: 1, width: 320 } });
    expect([full.rendered.length, full.stored().length]).toEqual([1, 1]);
  });

  test('above the budget of the minute is not rendered', async () => {
    const keys: string[] = [];
    const takeRendering: FrameLimits['takeRendering'] = async (key) => {
      keys.push(key);
      return { isAllowed: keys.length === 2, remaining: 0, resetSeconds: 60, retryAfterSeconds: 1 };
    };
    const { frame, rendered } = setUp({ limits: { takeRendering } });
    await expect(frame(1)).rejects.toMatchObject({ code: 'UNAVAILABLE', details: { reason: 'busy' } });
    expect(await frame(10)).toHaveProperty('key');
    expect(await frame(20)).toEqual({ nearest: { tenths: 10, width: 320 } });
    expect(await frame(10)).toHaveProperty('key');
    expect([rendered.length, keys]).toEqual([1, [video.id, video.id, video.id]]);
  });

  test('takes turns by owner and by video', async () => {
    const requests: unknown[] = [];
    const { frame } = setUp({
      limits: {
        acquireSlot: async (...request) => {
          requests.push(request);
          return () => undefined;
        },
      },
    });
    await frame(1);
    expect(requests).toEqual([[video.owner_user_id, video.id]]);
  });

  test('of an earlier run is removed; variants of the poster stay', async () => {
    const { frame, files, stored } = setUp();
    for (const name of ['frame-1-1-1-320.jpg', 'v1-2-auto-64x36.jpg'])
      files.set(`variants/${video.id}/${name}`, 'old');
    await frame(1);
    expect(stored()).toEqual([keyOf('v1-2-auto-64x36.jpg').key, keyOf('frame-1-2-1-320.jpg').key]);
  });

  test('of a video that is deleted meanwhile is removed', async () => {
    const { frame, stored } = setUp({ found: () => ({ ...video, deleted_at: new Date() }) });
    await expect(frame(1)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(stored()).toEqual([]);
  });

  test('is refused while others of the video are rendered and wait', async () => {
    const gate = Promise.withResolvers<void>();
    const { frame } = setUp({ onRender: () => gate.promise });
    const [first, second] = [frame(1), frame(2)];
    await expect(frame(3)).rejects.toMatchObject({ code: 'UNAVAILABLE', details: { reason: 'busy' } });
    gate.resolve();
    expect([await first, await second]).toHaveLength(2);
  });

  test('of another video is rendered while one video holds all places that it may', async () => {
    const gate = Promise.withResolvers<void>();
    const { frame, files } = setUp({
      onRender: (request) => ('seconds' in request && request.seconds < 1 ? gate.promise : undefined),
      limits: { inFlight: createSingleFlight({ maxConcurrent: 4 }) },
    });
    const other = { ...video, id: randomUUID(), owner_user_id: 'another' };
    for (const [key, text] of [...files]) files.set(key.replace(video.id, other.id), text);
    const own = Promise.allSettled([frame(1), frame(2)]);
    expect(await frame(10, 320, other)).toHaveProperty('key');
    gate.resolve();
    expect((await own).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });

  test.each([
    ['the time limit', new EncodeError('timed_out', 'late'), { details: { reason: 'busy' } }],
    ['a defect', new EncodeError('encode_failed', 'no'), { code: 'encode_failed' }],
  ])('that fails by %s releases its slot', async (_what, error, expected) => {
    const failing = [error];
    const { frame } = setUp({
      onRender: () => {
        const next = failing.pop();
        if (next) throw next;
      },
    });
    await expect(frame(1)).rejects.toMatchObject(expected);
    expect(await frame(1)).toHaveProperty('key');
    expect(await readdir(scratchRoot)).toEqual([]);
  });

  test('needs an engine unless it is stored', async () => {
    const { frame, files } = setUp({ settings: { encoderMissing: 'no ffmpeg' } });
    await expect(frame(1)).rejects.toMatchObject({ details: { reason: 'encoder_missing' } });
    files.set(keyOf('frame-1-2-1-320.jpg').key, 'jpeg');
    expect(await frame(1)).toHaveProperty('key');
  });

  test.each([
    ['not encoded here', createVideo()],
    [
      'whose index is not stored',
      { ...video, playback: { kind: 'own', attempt: 9, folder: '9-9' } as const },
    ],
  ])('does not exist for a video %s', async (_what, asset) => {
    await expect(setUp().frame(1, 320, asset)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
