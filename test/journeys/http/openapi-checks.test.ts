// The check of responses against the OpenAPI document detects differences.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCheck } from '../../support/http/api-document.ts';
import { type ApiDocument, readDocument } from '../../support/http/openapi.ts';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
let document: ApiDocument & Parameters<typeof createCheck>[0];
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api' });
  document = await readDocument(service);
});
afterAll(() => service.stop());

describe('a response that does not match the document', () => {
  const check = () => createCheck(document);
  const url = () => `${service.url}/usage`;
  const envelope = {
    success: true,
    message: 'Usage',
    code: 200,
    request_id: 'r',
    timestamp: '2026-11-22T10:00:00Z',
  };

  test('is detected by its status and by its body', () => {
    const response = { method: 'GET', url: url(), status: 200 };
    expect(() => check()({ ...response, status: 418, body: {} })).toThrow(
      'GET /api/v1/usage 418 is not documented',
    );
    expect(() => check()({ ...response, body: { ...envelope, data: { owner_user_id: 7 } } })).toThrow(
      'owner_user_id must be string',
    );
    expect(() => check()({ ...response, body: { ...envelope, timestamp: 'noon', data: {} } })).toThrow(
      'date-time',
    );
  });
});
