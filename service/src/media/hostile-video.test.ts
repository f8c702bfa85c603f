// Tests that hostile files are rejected within the limits of the probe, without an effect on others.
import { globSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openTestDecoders } from '../../../test/support/clips/decoders.ts';
import { type ClipOptions, makeClip, TEST_DATA } from '../../../test/support/clips/clips.ts';
import type { DefaultContainer } from '@mediary/media-rules/video-facts';
import type { ByteSource } from './probe.ts';

/** Short, so that what hangs a thread does not hang the suite. */
const { probe, close } = openTestDecoders({ probe: { deadlineMs: 3000 } });
afterAll(close);

const sourceOf = (bytes: Uint8Array): ByteSource => ({
  sizeBytes: bytes.length,
  read: async (start, end) => bytes.subarray(start, end),
});
const clipBytes = async (options: ClipOptions) => readFile(await makeClip(options));

/** A clip with one 32-bit number of its index changed, counted from the end of a box's name. */
async function patched(box: string, at: number, value: number): Promise<Buffer> {
  const bytes = await clipBytes({ container: 'mp4', faststart: true, more: ['-bf', '2'] });
  bytes.writeUInt32BE(value, bytes.indexOf(box) + 4 + at);
  return bytes;
}

const ENDLESS = 0xffff_ffff;
const VALID = { facts: { width: 320, height: 180, hasVideo: true, hasAudio: true } };

test.each<[string, DefaultContainer, () => Promise<Buffer>]>([
  ['times of 2^32 samples fill the memory', 'mov', () => patched('stts', 8, ENDLESS)],
  ['offsets of 2^32 samples never end', 'mov', () => patched('ctts', 8, ENDLESS)],
  ['a chunk of 2^32 samples never ends', 'mov', () => patched('stsc', 12, ENDLESS)],
  [
    'a segment of zeros never ends',
    'matroska',
    async () =>
      Buffer.concat([(await clipBytes({ container: 'mkv' })).subarray(0, 64), Buffer.alloc(50_000_000)]),
  ],
])('%s: refused, while another file is probed beside it, and one after it', async (_, container, hostile) => {
  const valid = sourceOf(await clipBytes({ container: 'mp4' }));
  const refused = probe.probe(sourceOf(await hostile()), container);
  expect(await probe.probe(valid, 'mov')).toMatchObject(VALID);
  expect(await refused).toEqual({ refused: 'not_media' });
  expect(await probe.probe(valid, 'mov')).toMatchObject(VALID);
});

describe('a file that asks for more and more', () => {
  /** Boxes without content, generated on each read; counts the reads. */
  function boxes({ sizeBytes, boxBytes, type }: { sizeBytes: number; boxBytes: number; type: string }) {
    const start = Buffer.from('\0\0\0\x10ftypisom\0\0\0\0', 'latin1');
    const header = Buffer.alloc(8);
    header.writeUInt32BE(boxBytes);
    header.write(type, 4);
    const spent = { bytes: 0, reads: 0 };
    const read = async (from: number, to: number) => {
      spent.bytes += to - from;
      spent.reads += 1;
      const bytes = Buffer.alloc(to - from);
      if (from < start.length) start.copy(bytes, 0, from);
      for (
        let at = Math.max(0, Math.floor((from - start.length) / boxBytes)) * boxBytes + start.length;
        at < to;
        at += boxBytes
      ) {
        header.subarray(Math.max(0, from - at)).copy(bytes, Math.max(0, at - from));
      }
      return bytes;
    };
    return { spent, source: { sizeBytes, read } satisfies ByteSource };
  }

  test.each([
    { sizeBytes: 3_000_000_016, boxBytes: 3_000_000_000, type: 'moov' },
    { sizeBytes: 10_000_000_000, boxBytes: 400_000, type: 'free' },
  ])('is read no further than 64 MiB: %j', async (shape) => {
    const { spent, source } = boxes(shape);
    expect(await probe.probe(source, 'mov')).toEqual({ refused: 'not_media' });
    expect(spent.reads).toBeGreaterThan(0);
    expect(spent.reads).toBeLessThanOrEqual(5000);
    expect(spent.bytes).toBeLessThanOrEqual(64 * 1024 * 1024);
  });
});

describe.skipIf(!TEST_DATA)('test data', () => {
  const root = TEST_DATA ?? '';
  test.each(['video-samples', 'video-bbb', 'manifests', 'file-type-fixtures', 'tiny-files'])(
    'every file of %s gives a result under every container',
    async (set) => {
      const files = globSync(`${set}/**/*.*`, { cwd: root, withFileTypes: true }).filter((entry) =>
        entry.isFile(),
      );
      expect(files.length).toBeGreaterThan(8);
      for (const { parentPath, name } of files) {
        const source = sourceOf(readFileSync(join(parentPath, name)));
        for (const container of ['mov', 'matroska', 'mpegts'] as const) {
          const result = await probe.probe(source, container);
          expect('facts' in result || result.refused).toBeTruthy();
          if (set === 'manifests') expect(result).toEqual({ refused: 'not_media' });
        }
      }
    },
  );
});
