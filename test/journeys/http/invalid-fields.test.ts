// A refused request names every invalid field with its reason and the allowed values (contract B7).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectRefusal } from '../../support/http/envelope.ts';
import { asUser, call, startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api' });
});
afterAll(() => service?.stop());

const refusalOf = async (line: string, json?: object) =>
  expectRefusal(await call(service, line, { headers: asUser('ann'), ...(json && { json }) }), 400);

test('three missing fields are three errors of one response', async () => {
  const { message, details } = await refusalOf('POST /media/upload-url?expand=asset', { size_bytes: 0 });
  expect(message).toBe(
    'filename is required; content_type is required; mime_type is required; size_bytes must be at least 1',
  );
  expect(details).toMatchObject({ field: 'filename', reason: 'required' });
  expect(details?.['errors']).toMatchObject([
    { field: 'filename', reason: 'required' },
    { field: 'content_type', reason: 'required' },
    { field: 'mime_type', reason: 'required' },
    { field: 'size_bytes', reason: 'below_minimum', limit: 1 },
  ]);
});

test('fields whose content is refused are listed together too', async () => {
  const { details } = await refusalOf('POST /media/upload-url?expand=asset', {
    filename: ' ',
    content_type: 'video',
    mime_type: 'video/x-nothing',
    title: 'a\u0000b',
  });
  expect(details?.['errors']).toMatchObject([
    { field: 'filename', reason: 'invalid_value', limit: 255 },
    { field: 'mime_type', reason: 'unsupported_value', allowed: expect.arrayContaining(['video/mp4']) },
    { field: 'title', reason: 'invalid_value' },
  ]);
});

test('parameters are named with what is allowed', async () => {
  const { message, details } = await refusalOf('GET /media?stream_status=done&limit=500');
  expect(message).toContain('limit must be at most 200');
  expect(message).toContain(
    'stream_status must be one of pending_upload, processing, failed, ready, not "done"',
  );
  expect(details?.['errors']).toMatchObject([
    { field: 'limit', reason: 'above_maximum', limit: 200 },
    {
      field: 'stream_status',
      reason: 'unsupported_value',
      allowed: ['pending_upload', 'processing', 'failed', 'ready'],
    },
  ]);
});
