// `npm run encoder -- conform` tells a good encoder from faulty ones.
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { runEncoderCommand } from '../../../service/src/commands/encoder.ts';
import { makeClip } from '../../support/clips/clips.ts';
import { type ReferenceEncoder, startReferenceEncoder } from '../../support/encoding/reference-encoder.ts';
import { SECRETS } from '../../support/service.ts';

const secret = SECRETS.ONPREM_WEBHOOK_SECRET;
let encoder: ReferenceEncoder;
beforeAll(async () => {
  encoder = await startReferenceEncoder(secret);
});
afterAll(() => encoder.stop());
afterEach(() => encoder.misbehave({}));

type Result = { readonly lines: readonly string[]; readonly error: string | undefined };

async function conform({ timeout = 10, url = `${encoder.url}/jobs` } = {}): Promise<Result> {
  let printed = '';
  const command = {
    secret,
    makeSample: async () => readFile(await makeClip({ seconds: 2 })),
    print: (text: string) => {
      printed += text;
    },
  };
  const error = await runEncoderCommand(command, ['conform', url, '--timeout', String(timeout)]).then(
    () => undefined,
    ({ message }: Error) => message,
  );
  return { lines: printed.split('\n').map((line) => line.trim()), error };
}
const failedIn = ({ lines }: Result) => lines.filter((line) => line.startsWith('FAILED'));

test('a good encoder meets every requirement', async () => {
  const result = await conform();
  expect(result).toMatchObject({ error: undefined });
  expect(result.lines.slice(1, -1)).toEqual(
    [
      'refuses a job without a signature',
      'refuses a job with a wrong signature',
      'refuses a job that was signed an hour ago',
      'accepts a signed job',
      'tolerates the same job again',
      'reports the video as ready',
      'signs its reports',
      'names the attempt in its reports',
      'reports processing before ready',
      'reports at least every 30 s (heartbeat_s)',
      'gives absolute playback URLs',
      'serves the manifest',
      'repeats a report that was answered with 503',
      'ends a job with DELETE',
      'reports a broken file as failed, or refuses it with 4xx',
    ].map((name) => `ok       ${name}`),
  );
});

test('an encoder that takes jobs of anybody is found out', async () => {
  encoder.misbehave({ isGullible: true });
  const result = await conform();
  expect(failedIn(result)).toEqual([
    'FAILED   refuses a job without a signature: status 202, not 401',
    'FAILED   refuses a job with a wrong signature: status 202, not 401',
  ]);
  expect(result.error).toBe('The encoder does not meet 2 of the requirements.');
});

test('faulty reports are found out', async () => {
  encoder.misbehave({
    report: ({ attempt: _, playback, ...report }) =>
      report.status === 'processing' || report.status === 'failed'
        ? undefined
        : { ...report, playback: { hls: '/index.m3u8' } },
  });
  expect(failedIn(await conform({ timeout: 3 }))).toEqual([
    'FAILED   names the attempt in its reports: attempt is not 3',
    'FAILED   reports processing before ready: the first report is another one',
    'FAILED   gives absolute playback URLs: playback is {"hls":"/index.m3u8"}',
    'FAILED   reports a broken file as failed, or refuses it with 4xx: no report came',
  ]);
});

test.each([
  ['signs with another secret', { secret: 'another-secret' }],
  ['never reports', { isSilent: true }],
])('an encoder that %s has no result', async (_, faults) => {
  encoder.misbehave(faults);
  expect(failedIn(await conform({ timeout: 2 }))).toContain(
    'FAILED   reports the video as ready: no signed report within 2 s',
  );
});

test('an address where nobody listens is found out', async () => {
  const { lines, error } = await conform({ url: 'http://127.0.0.1:1/jobs' });
  expect(lines).toContain('FAILED   accepts a signed job: no response (unreachable)');
  expect(error).toMatch(/does not meet/);
});

test('without a secret or an address the command says how it is used', async () => {
  const command = { secret: undefined, makeSample: async () => Buffer.alloc(0), print: () => {} };
  await expect(runEncoderCommand(command, ['conform', 'http://127.0.0.1:1/'])).rejects.toThrow(
    'Usage: ONPREM',
  );
  await expect(runEncoderCommand({ ...command, secret }, ['conform'])).rejects.toThrow('Usage: ONPREM');
});
