// Tests that an upload is not rejected because its decoder process gets no CPU time.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestDecoders, type TestDecoders } from '../../../test/support/decoders.ts';

const VARIANT = { width: 4, height: 3, fit: 'inside', format: 'jpeg', animated: false } as const;

let decoders: TestDecoders;
let folder: string;
let picture: string;
beforeAll(async () => {
  decoders = openTestDecoders({ image: { deadlineMs: 400 } });
  folder = await mkdtemp(join(tmpdir(), 'mediary-image-'));
  picture = join(folder, 'picture.png');
  await writeFile(
    picture,
    await sharp({ create: { width: 8, height: 6, channels: 3, background: 'red' } })
      .png()
      .toBuffer(),
  );
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
  'an examination is retried, a variant gets a substitute',
  async () => {
    const examine = () => decoders.imageProcessor.examine(picture);
    await stopChildOf(examine);
    await expect(examine()).rejects.toMatchObject({ code: 'UNAVAILABLE', details: { reason: 'busy' } });
    await stopChildOf(examine);
    expect(await decoders.imageProcessor.render(picture, VARIANT, 'asset')).toEqual({
      refused: 'too_demanding',
    });
    expect(await examine()).toHaveProperty('facts');
  },
);
