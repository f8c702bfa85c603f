// Tests the requests of transfers, and what is read from their responses.
import { describe, expect, test } from 'vitest';
import {
  buildChunkHeaders,
  buildCreationHeaders,
  buildForm,
  parseCreation,
  parseOffset,
  planChunk,
  toOpenUpload,
  type TusTarget,
} from './transfer-requests.ts';

const TARGET: TusTarget = {
  protocol: 'tus',
  method: 'POST',
  url: 'https://up.example/tusupload',
  headers: { VideoId: 'v1' },
  fields: { filetype: 'video/mp4', title: 'größe' },
  chunk_size_bytes: 100,
  expires_at: '2026-01-01T00:00:00.000Z',
  max_bytes: 1000,
};

describe('a tus upload', () => {
  test('is created with its length, its fields and the headers of the target', () => {
    expect(buildCreationHeaders(TARGET, 250)).toEqual({
      'Tus-Resumable': '1.0.0',
      VideoId: 'v1',
      'Upload-Length': '250',
      'Upload-Metadata': 'filetype dmlkZW8vbXA0,title Z3LDtsOfZQ==',
    });
  });

  test.each([
    ['/tusupload/u1', 'https://up.example/tusupload/u1'],
    ['https://other.example/u1', 'https://other.example/u1'],
  ])('is at the Location %s', (location, url) => {
    expect(parseCreation(TARGET, location)).toEqual({ url, headers: { VideoId: 'v1' }, chunkSize: 100 });
  });

  test.each([null, 'ftp://up.example/u1', 'http://['])('is not at the Location %s', (location) => {
    expect(parseCreation(TARGET, location)).toBeUndefined();
  });

  test('that the provider has created is the target itself', () => {
    const { chunk_size_bytes: _size, ...target } = TARGET;
    const open = { url: TARGET.url, headers: TARGET.headers, chunkSize: null };
    expect(toOpenUpload({ ...target, method: 'PATCH' })).toEqual(open);
    expect(toOpenUpload(TARGET)).toBeUndefined();
  });
});

describe('a chunk', () => {
  const upload = { url: '', headers: { VideoId: 'v1' }, chunkSize: 100 };

  test.each([
    [0, { start: 0, end: 99 }],
    [130, { start: 130, end: 229 }],
    [200, { start: 200, end: 249 }],
  ])('at %i', (offset, chunk) => {
    expect(planChunk(upload, offset, 250)).toEqual(chunk);
  });

  test('is the rest of the file where the provider names no size', () => {
    expect(planChunk({ ...upload, chunkSize: null }, 7, 250)).toEqual({ start: 7, end: 249 });
  });

  test('names its offset', () => {
    expect(buildChunkHeaders(upload, { start: 130, end: 229 })).toEqual({
      'Tus-Resumable': '1.0.0',
      VideoId: 'v1',
      'Content-Type': 'application/offset+octet-stream',
      'Upload-Offset': '130',
    });
  });
});

test.each([
  ['0', 0],
  ['250', 250],
  ['251', undefined],
  ['-1', undefined],
  ['1e2', undefined],
  ['', undefined],
  [null, undefined],
])('the offset %s of 250 bytes', (text, offset) => {
  expect(parseOffset(text, 250)).toBe(offset);
});

test('a form has its fields before the file, as a browser sends it', async () => {
  const target = { ...TARGET, protocol: 'form', method: 'POST', fields: { key: 'value' } } as const;
  const file = { filename: 'a "b".mp4', mimeType: 'video/mp4' };
  const { head, tail, headers } = buildForm(target, file, 'b0undary');
  const form = await new Response(Buffer.concat([head, Buffer.from('bytes'), tail]), {
    headers: { 'content-type': headers['Content-Type'] ?? '' },
  }).formData();
  expect([...form.keys()]).toEqual(['key', 'file']);
  expect(form.get('key')).toBe('value');
  const sent = form.get('file') as File;
  expect({ name: sent.name, type: sent.type, bytes: await sent.text() }).toEqual({
    name: 'a "b".mp4',
    type: 'video/mp4',
    bytes: 'bytes',
  });
  expect(headers).toMatchObject({ VideoId: 'v1' });
});
