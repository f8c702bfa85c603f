// Tests which problems of a download and of the store fail an import, and with which code.
import { describe, expect, test } from 'vitest';
import { badRequest, conflict, payloadTooLarge, unavailable } from '../../platform/http/errors.ts';
import { quotaExceeded } from '../../usage/quota.ts';
import {
  keepsSource,
  toDownloadFailure,
  toProviderFailure,
  toStoreFailure,
  TRANSFER_FAILED,
  VIDEO_TOO_LONG,
} from './import-failure.ts';

const failureOf = (reason: string, status?: number) =>
  toDownloadFailure({ reason, detail: 'ENOTFOUND files.example.com', status });

describe('a download that fails', () => {
  test.each([
    ['address_refused', 'import_refused', false],
    ['too_large', 'import_too_large', false],
    ['timeout', 'import_timeout', true],
    ['dns_failed', 'import_failed', true],
    ['connection_lost', 'import_failed', true],
    ['some_new_reason', 'import_failed', true],
  ])('%s is %s', (reason, code, keeps) => {
    const failure = failureOf(reason);
    expect(failure).toMatchObject({ code, retryable: true });
    expect(keepsSource(failure)).toBe(keeps);
  });

  test('tells nothing about names of private networks', () => {
    const refused = { reason: 'address_refused', detail: 'private_name', status: undefined };
    const unknown = { reason: 'dns_failed', detail: 'ENOTFOUND', status: undefined };
    expect(toDownloadFailure(refused)).toEqual(toDownloadFailure(unknown));
    expect(toDownloadFailure(unknown).code).toBe('import_failed');
  });

  test('the message says what the server answered, and never names it', () => {
    expect(failureOf('http_status', 403).message).toBe(
      'The file could not be read from the import URL. The server answered with status 403.',
    );
    expect(failureOf('dns_failed').message).not.toContain('example.com');
  });
});

describe('a transfer that fails', () => {
  const rejected = { code: 'provider_rejected', message: 'The provider rejects it.', retryable: false };

  test('keeps the source where the provider may take the file later', () => {
    expect(keepsSource(toProviderFailure(rejected))).toBe(true);
    expect(keepsSource(TRANSFER_FAILED)).toBe(true);
    expect(keepsSource(VIDEO_TOO_LONG)).toBe(false);
  });

  test('can be retried, whatever the provider says', () => {
    expect(toProviderFailure(rejected)).toEqual({ ...rejected, retryable: true });
  });
});

describe('bytes that cannot be stored', () => {
  const quota = quotaExceeded({ field: 'bytes', limit: 10, used: 5, requested: 20 });
  test.each([
    [payloadTooLarge('too large'), 'import_too_large'],
    [quota, 'import_too_large'],
    [badRequest('empty', { reason: 'empty_upload' }), 'import_failed'],
    [badRequest('other length', { field: 'size_bytes' }), 'size_mismatch'],
  ])('fail the import: %s', (error, code) => {
    expect(toStoreFailure(error)).toMatchObject({ code });
  });

  test('the message of an exceeded quota is shown', () => {
    expect(toStoreFailure(quota)?.message).toBe(quota.message);
  });

  test.each([unavailable('the disk is full'), conflict('upload in progress'), new Error('any')])(
    'let the job run again: %s',
    (error) => {
      expect(toStoreFailure(error)).toBeUndefined();
    },
  );
});
