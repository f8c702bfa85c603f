// Compares inspections with what the service itself finds, for every collected video and image.
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { checkFileType, detectFileType } from '@mediary/media-rules/magic-bytes';
import { findMediaType, type MediaType } from '@mediary/media-rules/media-type';
import type { DefaultContainer } from '@mediary/media-rules/video-facts';
import { toWarnings } from '@mediary/media-rules/warnings';
import { afterAll, describe, expect, test } from 'vitest';
import { openTestDecoders } from '../../../../test/support/clips/decoders.ts';
import { TEST_DATA } from '../../../../test/support/clips/test-data.ts';
import { findMimeType } from '../upload/media-type.ts';
import { inspectFile } from './inspect-file.ts';

const { probe, imageProcessor, close } = openTestDecoders();
afterAll(close);

const SETS = [
  'video-samples',
  'video-bbb',
  'exif-orientation',
  'image-valid',
  'image-broken',
  'image-fuzz-small',
  'file-type-fixtures',
  'tiny-files',
];

/** An inspection says something else about these files than the service. */
const DIFFERENT: readonly string[] = [];

/** `code`: why the file is refused. `facts`: null where the service cannot decode the image. */
type Finding = { readonly code: string | null; readonly facts: object | null };

/** Of an image that cannot be decoded, a header may say that it is too large; it is refused in any case. */
const isEqual = (service: Finding, inspection: Finding): boolean =>
  service.code === inspection.code
    ? !service.facts || JSON.stringify(service.facts) === JSON.stringify(inspection.facts)
    : service.facts === null && service.code === null && inspection.code === 'picture_too_large';

/** As `complete` checks the bytes, and for images as the job decodes them. */
async function findByService(path: string, mimeType: string): Promise<Finding> {
  const media = findMediaType(mimeType) as MediaType;
  const bytes = readFileSync(path);
  const verdict = checkFileType(media, detectFileType(bytes));
  if (verdict !== 'ok') return { code: verdict, facts: null };
  if (media.kind === 'image') return findByDecoder(path);
  const source = {
    sizeBytes: bytes.length,
    read: async (start: number, end: number) => bytes.subarray(start, end),
  };
  const result = await (media.kind === 'audio'
    ? probe.probeAudio(source, media.container)
    : probe.probe(source, media.container as DefaultContainer));
  if ('refused' in result) return { code: result.refused, facts: null };
  const { width, height, durationMs, traits } = result.facts;
  return { code: null, facts: { width, height, durationMs, warnings: codesOf(toWarnings(traits)) } };
}

/** Headers do not tell whether all pixels can be decoded. */
async function findByDecoder(path: string): Promise<Finding> {
  const examined = await imageProcessor.examine(path);
  if ('refused' in examined)
    return { code: examined.refused === 'picture_too_large' ? examined.refused : null, facts: null };
  const { width, height, isAnimationDropped } = examined.facts;
  const warnings = codesOf(toWarnings({ isAnimationDropped }));
  return { code: null, facts: { width, height, durationMs: null, warnings } };
}

async function findByInspection(path: string, mimeType: string): Promise<Finding> {
  const file = new Blob([readFileSync(path)]);
  const { refusals, width, height, duration_ms, warnings } = await inspectFile(file, { mimeType });
  const code = refusals[0]?.code ?? null;
  return { code, facts: { width, height, durationMs: duration_ms, warnings: codesOf(warnings) } };
}

const codesOf = (warnings: readonly { readonly code: string }[]): string[] =>
  warnings.map(({ code }) => code);

/** Files without a known extension are declared as what their bytes are, as an application would. */
function declaredTypeOf(path: string): string | undefined {
  const named = findMimeType(basename(path));
  if (named !== undefined) return named;
  const detected = detectFileType(readFileSync(path));
  return DECLARED[detected];
}

const DECLARED: Readonly<Record<string, string>> = {
  jpeg: 'image/jpeg',
  png: 'image/png',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  heif: 'image/heic',
  isobmff: 'video/mp4',
  webm: 'video/webm',
  matroska: 'video/x-matroska',
};

describe.skipIf(!TEST_DATA)('collected samples', () => {
  const root = TEST_DATA ?? '';
  const samples = (set: string): string[] =>
    readFileSync(join(root, set, 'MANIFEST.tsv'), 'utf8')
      .split('\n')
      .slice(1)
      .flatMap((line) => line.split('\t')[0] || [])
      .map((name) => join(root, set, name));

  test('are what the service finds, but for fewer than 1 %, which are named', async () => {
    const different: string[] = [];
    let decoded = 0;
    const files = SETS.flatMap(samples).flatMap((path) => {
      const mimeType = declaredTypeOf(path);
      return mimeType === undefined ? [] : { path, mimeType };
    });
    for (const { path, mimeType } of files) {
      const service = await findByService(path, mimeType);
      const inspection = await findByInspection(path, mimeType);
      if (service.facts) decoded += 1;
      if (isEqual(service, inspection)) continue;
      different.push(basename(path));
      if (!DIFFERENT.includes(basename(path))) console.error(basename(path), { service, inspection });
    }
    expect(different).toEqual(DIFFERENT);
    expect(different.length / files.length).toBeLessThan(0.01);
    expect(files.length).toBeGreaterThan(550);
    expect(decoded).toBeGreaterThan(200);
  });
});
