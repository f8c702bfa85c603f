// The limits of the API hold for every item of a source.
import { expect, test } from 'vitest';
import { toExternalId, toImportRequest } from './import-request.ts';
import { type ItemFacts, NO_FACTS } from './source.ts';

const file = { url: 'https://files.test/a', filename: 'a.mp4', mimeType: 'video/mp4' };
const options = { visibility: undefined, tags: [], provider: undefined };
const request = (facts: Partial<ItemFacts>, given: object = {}) =>
  toImportRequest({
    source: 'cdnhost',
    item: { ...NO_FACTS, id: 'v1', ...facts },
    file,
    options,
    ...given,
  });

test('an item becomes an import with its own id', () => {
  expect(
    request({
      title: 'Film',
      createdAt: '2025-01-02T00:00:00Z',
      visibility: 'public',
      tags: ['a'],
      metadata: { order: 7 },
      sites: ['www.example.com'],
      fileSizeBytes: 100,
      expiresAt: '2030-01-01T00:00:00Z',
      chapters: [{ start_ms: 0, title: 'Start' }],
    }),
  ).toEqual({
    url: 'https://files.test/a',
    filename: 'a.mp4',
    mime_type: 'video/mp4',
    external_id: 'cdnhost:v1',
    title: 'Film',
    tags: ['a'],
    metadata: { order: 7, source: { service: 'cdnhost', id: 'v1', created_at: '2025-01-02T00:00:00Z' } },
    visibility: 'public',
    provider: undefined,
    expires_at: '2030-01-01T00:00:00Z',
    size_bytes: 100,
    chapters: [{ start_ms: 0, title: 'Start' }],
    access: { referrers: ['www.example.com'] },
  });
});

test('options of the operator win over the source, and an image has no provider and no chapters', () => {
  const given = { options: { visibility: 'private', tags: ['moved', 'a'], provider: 'onprem' } };
  expect(request({ visibility: 'public', tags: ['a'] }, given)).toMatchObject({
    visibility: 'private',
    tags: ['a', 'moved'],
    provider: 'onprem',
  });
  const image = { ...given, file: { ...file, mimeType: 'image/png' } };
  const asked = request({ chapters: [{ start_ms: 0, title: 'Start' }] }, image);
  expect([asked.provider, 'chapters' in asked]).toEqual([undefined, false]);
});

test('long and odd texts are cut', () => {
  const asked = request({
    title: `  Two\nlines ${'😀'.repeat(300)}`,
    tags: [' ', 'a\tb', 'x'.repeat(120), ...Array.from({ length: 60 }, (_, index) => `t${index}`)],
  });
  expect(asked.title).toMatch(/^Two lines 😀+$/u);
  expect(asked.title?.length).toBeLessThanOrEqual(500);
  expect(asked.tags?.slice(0, 3)).toEqual(['a b', 'x'.repeat(100), 't0']);
  expect(asked.tags).toHaveLength(50);
  expect(request({ title: '\n' }).title).toBeNull();
  const named = request({}, { file: { ...file, filename: `folder/${'n'.repeat(300)}.mp4` } });
  expect(named.filename).toMatch(/^n{251}\.mp4$/);
});

test('metadata above the limit is left out, and the source stays', () => {
  expect(Object.keys(request({ metadata: { text: 'x'.repeat(17_000) } }).metadata ?? {})).toEqual(['source']);
});

test('chapters are sorted, start once each, and lie within the video', () => {
  const chapters = [
    { start_ms: 5000, title: 'Late' },
    { start_ms: 0, title: 'A\u0000b' },
    { start_ms: 0, title: 'Again' },
    { start_ms: 900, title: ' ' },
    { start_ms: 10_000, title: 'Behind' },
  ];
  expect(request({ durationMs: 10_000, chapters }).chapters).toEqual([
    { start_ms: 0, title: 'A b' },
    { start_ms: 5000, title: 'Late' },
  ]);
});

test('an id that is too long is replaced by its SHA-256', () => {
  expect(toExternalId('bucket', `films/${'k'.repeat(242)}`)).toBe(`bucket:films/${'k'.repeat(242)}`);
  expect(toExternalId('bucket', `films/${'k'.repeat(243)}`)).toMatch(/^bucket:sha256:[0-9a-f]{64}$/);
});
