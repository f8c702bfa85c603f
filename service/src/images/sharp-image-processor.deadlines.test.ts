// Tests that a slow image ends its decoder process, and that an upload is not rejected because its process
// gets no CPU time.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestDecoders, type TestDecoders } from '../../../test/support/clips/decoders.ts';

const draw = (width: number, height: number): Sharp =>
  sharp({ create: { width, height, channels: 3, background: 'red' } });
const ASSET = { id: 'asset', owner_user_id: 'ann' };
const VARIANT = { width: 4, height: 3, fit: 'inside', format: 'jpeg', animated: false } as const;

let decoders: TestDecoders;
let folder: string;
let picture: string;
beforeAll(async () => {
  decoders = openTestDecoders({ image: { deadlineMs: 400 } });
  folder = await mkdtemp(join(tmpdir(), 'mediary-image-'));
  picture = join(folder, 'picture.png');
  await draw(8, 6).png().toFile(picture);
});
afterAll(async () => {
  await decoders.close();
  await rm(folder, { recursive: true });
});

/** Children of every thread of this process. */
async function childPids(): Promise<number[]> {
  const threads = await readdir('/proc/self/task');
  const lists = await Promise.all(
    threads.map((thread) => readFile(`/proc/self/task/${thread}/children`, 'utf8').catch(() => '')),
  );
  return lists.flatMap((list) => list.split(' ').map(Number).filter(Boolean));
}

/** Stops the process that `work` starts, so that the next task of it gets no CPU time. */
async function stopChildOf(work: () => Promise<unknown>): Promise<void> {
  const known = new Set(await childPids());
  await work();
  for (const pid of await childPids()) if (!known.has(pid)) process.kill(pid, 'SIGSTOP');
}

test.skipIf(process.platform !== 'linux')(
  'a task of a job is retried, a viewer gets a substitute',
  async () => {
    const examine = () => decoders.imageProcessor.examine(picture);
    await stopChildOf(examine);
    await expect(examine()).rejects.toMatchObject({ code: 'UNAVAILABLE', details: { reason: 'busy' } });
    await stopChildOf(examine);
    expect(await decoders.imageProcessor.render(picture, VARIANT, ASSET)).toEqual({
      refused: 'too_demanding',
    });
    await stopChildOf(examine);
    const improved = { ...VARIANT, isImproved: true } as const;
    await expect(decoders.imageProcessor.render(picture, improved, ASSET)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
    expect(await examine()).toHaveProperty('facts');
  },
);

test('an image that takes too long ends its process, and the next one is processed', async () => {
  const { imageProcessor: hasty, close } = openTestDecoders({ image: { deadlineMs: 60 } });
  const slow = join(folder, 'slow.png');
  // An interlaced image takes several times the deadline to decode.
  await draw(10_000, 10_000).png({ progressive: true }).toFile(slow);
  // A busy machine may give a process no CPU time: a job would try again, too.
  const examine = (): ReturnType<typeof hasty.examine> =>
    hasty.examine(slow).catch((error: { readonly details?: { readonly reason?: string } }) => {
      if (error.details?.reason === 'busy') return examine();
      throw error;
    });
  const examined = await Promise.all([1, 2, 3, 4].map(examine));
  for (const result of examined) expect(result).toEqual({ refused: 'too_demanding' });
  await close();
  await expect(hasty.examine(slow)).rejects.toThrow('closed');
  expect(await decoders.imageProcessor.examine(picture)).toHaveProperty('facts');
});
