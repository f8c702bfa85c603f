// Tests that a copy that is aborted leaves no file, and no error that nobody handles.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeScratchFile } from './scratch-file.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mediary-scratch-file-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const copy = (signal: AbortSignal, stream: () => Readable) =>
  writeScratchFile(stream, { path: join(folder, 'copy'), sizeBytes: 4, minFreeBytes: 0, signal });

test('a copy that is aborted before it starts opens no stream', async () => {
  let opened = 0;
  const open = () => {
    opened += 1;
    return Readable.from(['data']);
  };
  await expect(copy(AbortSignal.abort(new Error('stopping')), open)).rejects.toThrow('stopping');
  expect([opened, await readdir(folder)]).toEqual([0, []]);
});

test('a copy that is aborted as its stream opens ends with the error of the stream', async () => {
  const stopping = new AbortController();
  const open = () => {
    stopping.abort();
    return Readable.from(['data']);
  };
  await expect(copy(stopping.signal, open)).rejects.toThrow('aborted');
  expect(await readdir(folder)).toEqual([]);
});
