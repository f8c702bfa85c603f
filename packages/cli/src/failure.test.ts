// Tests the message and the exit code of each kind of error.
import { MediaryError } from '@mediary/client';
import { describe, expect, test } from 'vitest';
import { CliError, EXIT } from './exit-codes.ts';
import { reportFailure, toExitCode } from './failure.ts';
import type { Output } from './output.ts';

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

describe('the report names options of the command', () => {
  function report(error: unknown, file?: string): string {
    const lines: string[] = [];
    const output: Partial<Output> = {
      isJson: false,
      style: (_style, text) => text,
      error: (text) => {
        lines.push(text);
      },
    };
    reportFailure(output as Output, error, file);
    return lines.join('\n');
  }
  const refused = (field: string) =>
    new MediaryError(`${field} is invalid.`, { errorCode: 'BAD_REQUEST', status: 400, details: { field } });

  test.each([
    [new TypeError('The media type of "a" is not known. Pass `mimeType`.'), 'Pass --mime-type.'],
    [refused('created_after'), 'Correct --after.'],
    [refused('end_ms'), 'Correct --end.'],
    [refused('owner_user_id'), 'Name the owner: --owner or MEDIARY_OWNER'],
  ])('%s', (error, words) => {
    expect(report(error)).toContain(words);
  });

  test('and the file, where there are several', () => {
    expect(report(new Error('broken'), 'a.mp4')).toBe('Error: a.mp4: broken');
  });
});
