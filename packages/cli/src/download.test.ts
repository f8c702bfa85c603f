// Downloads from a server that breaks connections, to a disk that is full.
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { toSafeName } from './download.ts';
import { runInProcess, serve } from './program.fixture.ts';

const original = randomBytes(3_000_000);
const sha256 = createHash('sha256').update(original).digest('hex');
const BREAK_AFTER = 400_000;

let folder: string;
let server: Server;
let url: string;
/** Ranges of the requests for the bytes. */
const ranges: (string | undefined)[] = [];
/** Connections that break. */
let breaks = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mediary-download-'));
  ({ server, url } = await serve((request, response) => {
    const { range } = request.headers;
    const data = {
      id: 'a',
      checksum_sha256: sha256,
      provider_video_id: null,
      filename: 'a',
      url: `${url}/bytes`,
    };
    if (request.url !== '/bytes') return response.end(JSON.stringify({ success: true, data }));
    ranges.push(range);
    const [, start] = /^bytes=(\d+)-$/.exec(range ?? '') ?? [];
    const rest = original.subarray(Number(start ?? 0));
    response.writeHead(start === undefined ? 200 : 206, { 'content-length': rest.length });
    breaks -= 1;
    if (breaks < 0) return response.end(rest);
    response.write(rest.subarray(0, BREAK_AFTER), () => response.destroy());
  }));
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});
afterEach(() => {
  vi.restoreAllMocks();
  ranges.length = 0;
  breaks = 0;
});

const download = (file: string) =>
  runInProcess(['download', 'a', '--quiet', '-o', join(folder, file)], {
    env: { HOME: folder, MEDIARY_URL: url, MEDIARY_TOKEN: 'secret' },
    folder,
  });

type WriteArguments = [bytes: Uint8Array, offset: number, length: number, position: number];
type Writer = { write(...args: WriteArguments): Promise<object> };

/** The next write of an open file takes half of its bytes. */
async function shortenWrite() {
  const handle = await open(folder, 'r');
  const prototype: Writer = Object.getPrototypeOf(handle);
  await handle.close();
  const { write } = prototype;
  return vi.spyOn(prototype, 'write').mockImplementationOnce(function (this: unknown, ...args) {
    const [bytes, offset, length, position] = args;
    return write.call(this as Writer, bytes, offset, Math.floor(length / 2), position);
  });
}

test('a download continues wherever its connection breaks', async () => {
  breaks = 5;
  await shortenWrite();
  expect(await download('broken.mp4')).toMatchObject({ code: 0, stderr: '' });
  expect(ranges).toHaveLength(6);
  expect(new Set(ranges).size, 'no byte is requested again').toBe(6);
  expect(original.equals(await readFile(join(folder, 'broken.mp4')))).toBe(true);
});

test('a full disk ends the download, and leaves no file', async () => {
  const full = new Error('ENOSPC: no space left on device, write');
  (await shortenWrite()).mockRejectedValueOnce(full);
  expect(await download('full.mp4')).toEqual({
    code: 1,
    stdout: '',
    stderr: `Error: The download cannot be written: ${full.message}\n`,
  });
  expect(ranges).toHaveLength(1);
  expect(await readdir(folder)).not.toContainEqual(expect.stringContaining('full.mp4'));
});

test.each([
  ['film.mp4', 'film.mp4'],
  ['../../etc/passwd', 'passwd'],
  ['C:\\Users\\me\\film.mp4', 'film.mp4'],
  ['.bashrc', 'bashrc'],
  ['..', 'download'],
  ['Ferien in Köln.mov', 'Ferien in Köln.mov'],
])('%j is saved as %j', (filename, name) => {
  expect(toSafeName(filename)).toBe(name);
});

test('the folder of the file is created', async () => {
  const { code } = await download('new/folder/file.bin');
  expect([code, await readFile(join(folder, 'new/folder/file.bin'))]).toEqual([0, original]);
});
