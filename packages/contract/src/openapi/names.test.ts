// Names in the OpenAPI document: one suffix per unit, and one pair of names for time ranges.
import { expect, test } from 'vitest';
import type { Operation } from '../operation.ts';
import { CdnhostReport, EdgehostReport, OnpremReport, webhookOperation } from '../operations/webhooks.ts';
import { OPERATIONS } from '../operations.ts';
import { renderOpenApi } from './document.ts';

const ALL: readonly Operation[] = [
  ...OPERATIONS,
  webhookOperation('cdnhost', { body: CdnhostReport, signature: 'HMAC-SHA256.', headers: ['X-Signature'] }),
  webhookOperation('edgehost', { body: EdgehostReport, signature: 'HMAC-SHA256.', headers: ['X-Signature'] }),
  webhookOperation('onprem', { body: OnpremReport, signature: 'SHA-256.', headers: ['X-Signature'] }),
];

/** `_ms`: media times and measured times. `_s`: lifetimes and windows, as in the settings. `_m`: metres. */
const SUFFIX = /(?:^|_)(?:ms|s|m|bytes|lufs|dbtp|db|fps)$/;

/** Numbers without a unit, or in the one unit that every name of the list has: pixels, bits, percent. */
const WITHOUT_UNIT = new Set([
  ...[
    'asset_count',
    'chunk_count',
    'failed_count',
    'finding_count',
    'object_count',
    'repaired_count',
    'video_count',
    'worker_count',
    'chunks',
    'channels',
  ],
  ...['latitude', 'longitude', 'orientation', 'x', 'y'],
  ...['assets', 'attempt', 'attempts', 'failures', 'max_assets', 'max_parts', 'max_pending', 'max_uploads'],
  ...[
    'pending',
    'running',
    'scheduled',
    'total',
    'waiting',
    'delayed',
    'line',
    'position',
    'queue_position',
    'playback_version',
  ],
  ...['active', 'failed', 'recently_done', 'runs', 'max_runs'],
  ...['provider_video_count', 'removed_asset_count', 'removed_provider_video_count'],
  ...['imported_count', 'already_there_count', 'refused_count'],
  ...['code', 'limit', 'missing', 'status', 'version'],
  ...['width', 'height', 'w', 'h', 'bit_depth', 'progress'],
]);

/** Names that something else fixes. */
const FIXED: Readonly<Record<string, string>> = {
  bitrate: 'docs/contract/video-files.md: bits per second, a member of renditions',
  wait: 'docs/contract/events.md: seconds of a long poll',
  blur: 'docs/contract/images.md: pixels',
  dpr: 'docs/contract/images.md: pixels per CSS pixel',
  quality: 'docs/contract/images.md: 1 to 100',
  rotate: 'docs/contract/images.md: degrees',
  expires_in: 'docs/contract/authentication.md and RFC 6749: seconds',
  t: 'W3C Media Fragments: seconds, as in `#t=12.5`',
  cache_age: 'oEmbed: seconds',
  maxwidth: 'oEmbed',
  maxheight: 'oEmbed',
  thumbnail_width: 'oEmbed',
  thumbnail_height: 'oEmbed',
  content_length: 'RFC 9110: the header of this name',
  expires: "Uppy's AwsS3 plugin: seconds",
  PartNumber: 'the API of S3',
  Size: 'the API of S3',
  Status: 'the wire format of cdnhost',
  VideoLibraryId: 'the wire format of cdnhost',
  bits: 'audiowaveform',
  data: 'audiowaveform',
  length: 'audiowaveform',
  sample_rate: 'audiowaveform',
  samples_per_pixel: 'audiowaveform',
  used: 'the unit of `bytes` or `assets`, the object around it',
  uploading: 'the unit of `bytes`, the object around it',
};

/** The pair of every list; `since` and `until` are the period of a command, not of a list. */
const RANGE = new Set(['created_after', 'created_before']);
const LOOKS_LIKE_RANGE = /(?:^|_)(?:after|before|since|until|from|to)$/;

type Schema = { readonly [name: string]: unknown };

const document = renderOpenApi(ALL, {
  server: 'https://media.example.com',
  providers: ['onprem'],
  version: '1.2.3',
}) as Schema;

const isObject = (value: unknown): value is Schema => typeof value === 'object' && value !== null;

function isNumeric(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  const { type, anyOf, items } = schema;
  return (
    [type].flat().some((each) => each === 'integer' || each === 'number') ||
    (Array.isArray(anyOf) && anyOf.some(isNumeric)) ||
    isNumeric(items)
  );
}

/** Every member and parameter with its schema. */
function* namesIn(node: unknown): Generator<readonly [name: string, schema: unknown, isParameter: boolean]> {
  if (!isObject(node)) return;
  if (typeof node['in'] === 'string') yield [String(node['name']), node['schema'], true];
  if (isObject(node['properties']))
    for (const [name, schema] of Object.entries(node['properties'])) yield [name, schema, false];
  for (const [name, inner] of Object.entries(node)) if (!/^examples?$/.test(name)) yield* namesIn(inner);
}

const NAMES = [...namesIn(document)];
const unique = (names: readonly string[]) => [...new Set(names)].sort();

test('every number with a unit ends in the one suffix of the unit', () => {
  const numbers = unique(NAMES.filter(([, schema]) => isNumeric(schema)).map(([name]) => name));
  expect(numbers.length).toBeGreaterThan(60);
  const known = (name: string) => SUFFIX.test(name) || WITHOUT_UNIT.has(name) || Object.hasOwn(FIXED, name);
  expect(numbers.filter((name) => !known(name))).toEqual([]);
  const listed = [...WITHOUT_UNIT, ...Object.keys(FIXED)];
  expect(
    listed.filter((name) => !numbers.includes(name)),
    'listed in vain',
  ).toEqual([]);
});

test('no name spells a unit in another way', () => {
  const names = unique(NAMES.map(([name]) => name));
  const others = /_(?:seconds?|secs?|minutes?|hours?|days?|millis|milliseconds|size|length|kb|mb|mib|gb)$/;
  expect(names.filter((name) => others.test(name) && !Object.hasOwn(FIXED, name))).toEqual([]);
});

test('every list filters a time range by created_after and created_before', () => {
  const parameters = unique(NAMES.filter(([, , isParameter]) => isParameter).map(([name]) => name));
  const ranges = parameters.filter((name) => LOOKS_LIKE_RANGE.test(name));
  // These two are about other times.
  const others = ['expires_before', 'updated_after'];
  expect(ranges.filter((name) => !others.includes(name))).toEqual([...RANGE]);
  const replay = ALL.find(({ id }) => id === 'replayDeliveries');
  const body = [...namesIn(replay?.body)].map(([name]) => name);
  expect(body).toEqual(expect.arrayContaining([...RANGE]));
});
