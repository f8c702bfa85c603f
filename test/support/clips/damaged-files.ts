// Copies of video files in which bytes of the media data are replaced, the same ones for the same seed.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

type DamageOptions = { readonly bytes: number; readonly seed?: number };

type DamagedFile = AsyncDisposable & { readonly path: string };

/** Replaces bytes of the `mdat` box of an MP4 or QuickTime file; its index stays intact. */
export async function damageFile(source: string, { bytes, seed = 1 }: DamageOptions): Promise<DamagedFile> {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-damaged-'));
  const file = await readFile(source);
  const start = file.indexOf('mdat') + 4;
  const end = start - 8 + file.readUInt32BE(start - 8);
  const random = createRandom(seed);
  for (let count = 0; count < bytes; count += 1)
    file[start + Math.floor(random() * (end - start))] = Math.floor(random() * 256);
  const path = join(folder, basename(source));
  await writeFile(path, file);
  return { path, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

/** From 0 to 1 (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
