// `npm run encoder -- conform <url>`: checks that an operator's encoder does what the service expects.
import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { type Secret, toSecret } from '../auth/secret.ts';
import { sendRequest } from '../platform/outbound/http-client.ts';
import { signEncoderRequest } from '../providers/onprem/onprem-signature.ts';
import { CALLBACK_PATH, type Listener, type ReceivedReport, startListener } from './encoder-listener.ts';

type EncoderCommand = {
  /** ONPREM_WEBHOOK_SECRET. */
  readonly secret: string | undefined;
  /** A short video. */
  readonly makeSample: () => Promise<Uint8Array>;
  readonly print: (text: string) => void;
};

export const ENCODER_USAGE =
  'npm run encoder -- conform <url> ' +
  '[--listen <host:port>] [--url <address of this machine>] [--timeout <seconds>]';
const USAGE = `Usage: ONPREM_WEBHOOK_SECRET=… ${ENCODER_USAGE}`;
const DEFAULT_TIMEOUT_S = 120;
const HEARTBEAT_S = 30;
const DEADLINE_MS = 3_600_000;
const HOUR_MS = 3_600_000;

/** Throws when a requirement is not met, so that the exit code is 1. */
export async function runEncoderCommand(command: EncoderCommand, args: readonly string[]): Promise<void> {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      listen: { type: 'string', default: '127.0.0.1:0' },
      url: { type: 'string' },
      timeout: { type: 'string', default: String(DEFAULT_TIMEOUT_S) },
    },
  });
  const [action, url = ''] = positionals;
  if (action !== 'conform' || !URL.canParse(url) || !command.secret) throw new Error(USAGE);
  const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(values.listen) ?? [];
  if (host === '') throw new Error(USAGE);
  const secret = toSecret(command.secret);
  const publicUrl = values.url?.replace(/\/+$/, '');
  const listener = await startListener({ host, port: Number(port), publicUrl, secret });
  try {
    await runChecks(command, { url, secret, listener, timeoutMs: Number(values.timeout) * 1000 });
  } finally {
    listener.stop();
  }
}

type Run = {
  readonly url: string;
  readonly secret: Secret;
  readonly listener: Listener;
  readonly timeoutMs: number;
};
/** `problem` is undefined for a requirement that is met. */
type Check = { readonly name: string; readonly problem: string | undefined; readonly isAdvice?: boolean };
type Context = Run & { readonly source: string; readonly broken: string };

const GROUPS: readonly ((context: Context) => AsyncGenerator<Check>)[] = [
  checkSignatures,
  checkVideo,
  checkBrokenFile,
];

async function runChecks({ makeSample, print }: EncoderCommand, run: Run): Promise<void> {
  const source = run.listener.serve('sample.mp4', await makeSample());
  const broken = run.listener.serve('broken.mp4', Buffer.from('This is no video. '.repeat(1000)));
  let failed = 0;
  print(`${run.url}\n`);
  for (const group of GROUPS)
    for await (const { name, problem, isAdvice = false } of group({ ...run, source, broken })) {
      if (problem !== undefined && !isAdvice) failed += 1;
      print(
        problem === undefined
          ? `  ok       ${name}\n`
          : `  ${isAdvice ? 'advised' : 'FAILED '}  ${name}: ${problem}\n`,
      );
    }
  if (failed > 0) throw new Error(`The encoder does not meet ${failed} of the requirements.`);
}

async function* checkSignatures(context: Context): AsyncGenerator<Check> {
  const refusal = (status: number | string) => (status === 401 ? undefined : `${describe(status)}, not 401`);
  const send = async (sign: Sign) => (await sendJob(context, newJob(context, context.source), sign)).status;
  yield { name: 'refuses a job without a signature', problem: refusal(await send(() => ({}))) };
  const wrong = toSecret(`${context.secret.reveal()}-wrong`);
  yield {
    name: 'refuses a job with a wrong signature',
    problem: refusal(await send((body, id) => signEncoderRequest({ id, body, at: new Date() }, wrong))),
  };
  const old = new Date(Date.now() - HOUR_MS);
  yield {
    name: 'refuses a job that was signed an hour ago',
    problem: refusal(await send((body, id) => signEncoderRequest({ id, body, at: old }, context.secret))),
    isAdvice: true,
  };
}

async function* checkVideo(context: Context): AsyncGenerator<Check> {
  const { listener, timeoutMs } = context;
  const job = newJob(context, context.source);
  listener.refuseReadyOnce(job.asset_id);
  const sentAt = performance.now();
  const accepted = await sendJob(context, job);
  yield {
    name: 'accepts a signed job',
    problem: isSuccess(accepted.status) ? undefined : describe(accepted.status),
  };
  if (!isSuccess(accepted.status)) return;
  const again = await sendJob(context, job);
  const isTolerated = isSuccess(again.status) || again.status === 409;
  yield { name: 'tolerates the same job again', problem: isTolerated ? undefined : describe(again.status) };
  const isReady = (report: ReceivedReport) => isOf(report, job) && report.body['status'] === 'ready';
  const ready = await listener.waitFor(isReady, timeoutMs);
  yield {
    name: 'reports the video as ready',
    problem: ready ? undefined : `no signed report within ${timeoutMs / 1000} s`,
  };
  if (!ready) return;
  yield* checkReports(context, job, sentAt);
  yield* checkPlayback(ready);
  const repeated = await listener.waitFor((report) => report !== ready && isReady(report), timeoutMs);
  yield {
    name: 'repeats a report that was answered with 503',
    problem: repeated ? undefined : `it came once only within ${timeoutMs / 1000} s`,
  };
  if (accepted.jobUrl !== null) yield checkCancellation(await cancelJob(context, job, accepted.jobUrl));
}

async function* checkReports({ listener }: Context, job: Job, sentAt: number): AsyncGenerator<Check> {
  const reports = listener.reports.filter(({ body }) => body['asset_id'] === job.asset_id);
  const problemOf = (isGood: (report: ReceivedReport) => boolean, problem: string) =>
    reports.every(isGood) ? undefined : problem;
  yield {
    name: 'signs its reports',
    problem: problemOf(({ isSigned }) => isSigned, 'X-Onprem-Signature is missing or wrong'),
  };
  yield {
    name: 'names the attempt in its reports',
    problem: problemOf(({ body }) => body['attempt'] === job.attempt, `attempt is not ${job.attempt}`),
  };
  yield {
    name: 'reports processing before ready',
    problem: reports[0]?.body['status'] === 'processing' ? undefined : 'the first report is another one',
  };
  const times = [sentAt, ...reports.map(({ atMs }) => atMs)];
  const silentMs = Math.max(...times.slice(1).map((time, index) => time - (times[index] ?? time)));
  yield {
    name: `reports at least every ${HEARTBEAT_S} s (heartbeat_s)`,
    problem:
      silentMs <= HEARTBEAT_S * 1000 ? undefined : `it was silent for ${Math.round(silentMs / 1000)} s`,
  };
}

async function* checkPlayback({ body }: ReceivedReport): AsyncGenerator<Check> {
  const { hls, dash, thumbnail } = (body['playback'] ?? {}) as Record<string, unknown>;
  const given = [hls, dash, thumbnail].filter((url) => url !== undefined && url !== null);
  const isAbsolute = (url: unknown) =>
    typeof url === 'string' && /^https?:\/\/[^@]+$/.test(url) && url.length <= 2048;
  const hasManifest = isAbsolute(hls) || isAbsolute(dash);
  yield {
    name: 'gives absolute playback URLs',
    problem:
      hasManifest && given.every(isAbsolute) ? undefined : `playback is ${JSON.stringify(body['playback'])}`,
  };
  if (!hasManifest) return;
  const manifest = await sendRequest({ method: 'GET', url: String(isAbsolute(hls) ? hls : dash) });
  const status = 'failure' in manifest ? manifest.failure : manifest.status;
  yield { name: 'serves the manifest', problem: status === 200 ? undefined : describe(status) };
}

const checkCancellation = (status: number | string): Check => ({
  name: 'ends a job with DELETE',
  problem: isSuccess(status) || status === 404 ? undefined : describe(status),
});

async function* checkBrokenFile(context: Context): AsyncGenerator<Check> {
  const job = newJob(context, context.broken);
  const { status } = await sendJob(context, job);
  const isFinal = (report: ReceivedReport) =>
    isOf(report, job) && ['failed', 'ready'].includes(String(report.body['status']));
  const end = isSuccess(status) ? await context.listener.waitFor(isFinal, context.timeoutMs) : undefined;
  const found = end ? `it reports ${String(end.body['status'])}` : 'no report came';
  yield {
    name: 'reports a broken file as failed, or refuses it with 4xx',
    problem: end?.body['status'] === 'failed' || isRefusal(status) ? undefined : found,
  };
}

const isOf = ({ body, isSigned }: ReceivedReport, job: Job): boolean =>
  isSigned && body['asset_id'] === job.asset_id;
const isSuccess = (status: number | string): boolean => Number(status) >= 200 && Number(status) < 300;
const isRefusal = (status: number | string): boolean => status === 400 || status === 415 || status === 422;
const describe = (status: number | string): string =>
  typeof status === 'number' ? `status ${status}` : `no response (${status})`;

type Job = ReturnType<typeof newJob>;

const newJob = ({ listener }: Context, sourceUrl: string) => ({
  asset_id: randomUUID(),
  attempt: 3,
  mime_type: 'video/mp4',
  size_bytes: null,
  checksum_sha256: null,
  duration_ms: null,
  width: null,
  height: null,
  source_url: sourceUrl,
  callback_url: `${listener.url}${CALLBACK_PATH}`,
  deadline: new Date(Date.now() + DEADLINE_MS).toISOString(),
  heartbeat_s: HEARTBEAT_S,
});

type Sign = (body: Uint8Array, id: string) => Record<string, string>;
type JobAnswer = { readonly status: number | string; readonly jobUrl: string | null };

async function sendJob(
  { url, secret }: Context,
  job: Job,
  sign: Sign = (body, id) => signEncoderRequest({ id, body, at: new Date() }, secret),
): Promise<JobAnswer> {
  const headers = sign(Buffer.from(JSON.stringify(job)), `enc_${job.asset_id}_${job.attempt}`);
  const response = await sendRequest({ method: 'POST', url, headers, json: job });
  if ('failure' in response) return { status: response.failure, jobUrl: null };
  const location = response.headers.get('location');
  return { status: response.status, jobUrl: location === null ? null : new URL(location, url).href };
}

async function cancelJob({ secret }: Context, job: Job, jobUrl: string): Promise<number | string> {
  const json = { asset_id: job.asset_id, attempt: job.attempt, job_url: jobUrl };
  const body = Buffer.from(JSON.stringify(json));
  const id = `enc_${job.asset_id}_${job.attempt}_cancel`;
  const headers = signEncoderRequest({ id, body, at: new Date() }, secret);
  const response = await sendRequest({ method: 'DELETE', url: jobUrl, headers, json });
  return 'failure' in response ? response.failure : response.status;
}
