// Tests the message and the exit code of each kind of error.
import { MediaryError } from '@mediary/client';
import { expect, test } from 'vitest';
import { CliError, EXIT } from './exit-codes.ts';
import { toExitCode } from './failure.ts';

test.each([
  [new CliError('late', EXIT.timeout), 6],
  [new MediaryError('refused', { errorCode: 'FORBIDDEN', status: 403 }), 3],
  [new MediaryError('gone', { errorCode: 'NOT_FOUND', status: 404 }), 4],
  [new MediaryError('failed', { errorCode: 'ASSET_FAILED' }), 5],
  [new MediaryError('slow', { errorCode: 'TIMEOUT' }), 6],
  [new MediaryError('cut', { errorCode: 'CONNECTION_FAILED' }), 7],
  [new MediaryError('busy', { errorCode: 'UNAVAILABLE', status: 503 }), 1],
  [new DOMException('stopped', 'AbortError'), 130],
  [new Error('bug'), 1],
])('%s exits with %i', (error, code) => {
  expect(toExitCode(error)).toBe(code);
});
