// One trace leads from the request of a caller through jobs and ffmpeg to the webhook of an endpoint.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ffmpegPath, makeClip } from '../../support/clips/clips.ts';
import { freePort } from '../../support/http/free-port.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/http/webhook-receiver.ts';
import { openUpload, putBytes, settled } from '../../support/media.ts';
import { asService, asUser, call, eventually, SECRETS, tokenOf } from '../../support/service.ts';
import { type SharedData, startSharedData } from '../../support/postgres/shared-data.ts';
import {
  endAllIn,
  type ServiceProcess,
  sharedBy,
  startProcess,
  workerOf,
} from '../../support/service/service-process.ts';
import {
  type CollectedSpan,
  startTraceCollector,
  type TraceCollector,
} from '../../support/service/trace-collector.ts';
import { rows } from '../../support/service/traces.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER_SPAN = 'b7ad6b7169203331';
const CALLER = `00-${TRACE}-${CALLER_SPAN}-01`;
const FILENAME = 'planted-filename.mp4';

let data: SharedData;
let collector: TraceCollector;
let receiver: WebhookReceiver;
let api: ServiceProcess;
let worker: ServiceProcess;
let assetId: string;

beforeAll(async () => {
  data = await startSharedData();
  collector = await startTraceCollector();
  receiver = await startWebhookReceiver();
  const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, LOG_LEVEL: 'info' };
  const shared = { ...sharedBy({ ...data, ffmpegPath: ffmpegPath() }), ...traced };
  api = await startProcess({ ...shared, MEDIARY_ROLE: 'api', OUTBOUND_ALLOW_PRIVATE: 'webhooks' });
  worker = await startProcess(workerOf(shared, api));
  assetId = await encodeVideo();
});

afterAll(async () => {
  await Promise.all([api, worker].map((process) => process?.end('SIGKILL')));
  await endAllIn(data.dataDir);
  await data.remove();
  await Promise.all([collector?.stop(), receiver?.stop()]);
});

const isReadyWebhook = ({ name, attributes }: CollectedSpan) =>
  name === 'send webhook' && attributes['mediary.event_type'] === 'asset.ready';

/** Only `complete` has the caller's traceparent. */
async function encodeVideo(): Promise<string> {
  const url = receiver.url('/hook');
  await call(api, 'POST /webhook-endpoints', { headers: asService, json: { url, events: ['asset.ready'] } });
  const started = await openUpload(api, 'ann', { filename: FILENAME });
  await putBytes(started, await readFile(await makeClip({ seconds: 1 })));
  const headers = { ...asUser('ann'), traceparent: CALLER };
  await call(api, `POST /media/${started.asset_id}/complete`, { headers });
  expect(await settled(api, 'ann', started.asset_id)).toMatchObject({ stream_status: 'ready' });
  // Each process sends its spans by itself, parents after their children.
  await eventually(
    async () => pathOf(traced().find(isReadyWebhook)),
    (path) => path.at(-1) === 'completeUpload',
  );
  return started.asset_id;
}

const traced = () => collector.spans().filter(({ traceId }) => traceId === TRACE);

/** The names of a span and of those above it. */
function pathOf(span: CollectedSpan | undefined): string[] {
  if (!span) return [];
  return [span.name, ...pathOf(traced().find(({ spanId }) => spanId === span.parentSpanId))];
}

describe('the trace of a video', () => {
  test('leads from the request to the webhook of an endpoint', () => {
    const webhook = traced().find(isReadyWebhook);
    expect(pathOf(webhook)).toEqual([
      'send webhook',
      'receiveOnpremWebhook',
      'deliver report',
      'deliver-report',
      'encode-rest',
      'encode-asset',
      'completeUpload',
    ]);
    expect(webhook?.attributes).toMatchObject({
      'mediary.asset_id': assetId,
      'http.response.status_code': 204,
    });
    const [received] = receiver.received('/hook');
    expect(received?.headers['traceparent']).toBe(`00-${TRACE}-${webhook?.spanId}-01`);
    const request = traced().find(({ name }) => name === 'completeUpload');
    expect(request).toMatchObject({
      parentSpanId: CALLER_SPAN,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/api/v1/media/:id/complete',
        'http.response.status_code': 200,
        'mediary.asset_id': assetId,
      },
    });
  });

  test('contains each phase of ffmpeg, statement and operation of the store', () => {
    const paths = new Set(traced().map((span) => pathOf(span).join(' < ')));
    for (const path of [
      'ffmpeg < encode phase < encode first < encode-asset < completeUpload',
      'store put_file < encode first < encode-asset < completeUpload',
      'claim encode < encode-asset < completeUpload',
      'update assets < completeUpload',
      'commit < completeUpload',
    ])
      expect([...paths]).toContain(path);
    const statement = traced().find(({ name }) => name === 'claim encode');
    expect(statement?.attributes).toEqual({
      'db.system.name': 'postgresql',
      'db.query.summary': 'claim encode',
    });
  });

  test('shows which process did what', () => {
    const resourceOf = (name: string) => traced().find((span) => span.name === name)?.resource;
    const [request, job] = [resourceOf('completeUpload'), resourceOf('encode-asset')];
    expect([request, job]).toMatchObject([
      { 'service.name': 'mediary', 'mediary.role': 'api' },
      { 'service.name': 'mediary', 'mediary.role': 'worker', 'service.version': expect.any(String) },
    ]);
    expect(worker.log()).toContain(`"instance":"${job?.['service.instance.id']}"`);
  });

  test('is named in the log lines of its requests and jobs', () => {
    const linesOf = ({ log }: ServiceProcess) =>
      log()
        .split('\n')
        .map((line) => JSON.parse(line));
    const spanOf = (name: string) => traced().find((span) => span.name === name)?.spanId;
    const job = { msg: 'job ended', job: 'encode-asset', result: 'succeeded', asset_id: assetId };
    expect(linesOf(worker)).toContainEqual(
      expect.objectContaining({ ...job, trace_id: TRACE, span_id: spanOf('encode-asset') }),
    );
    expect(linesOf(api)).toContainEqual(
      expect.objectContaining({
        msg: 'asset ready',
        request_id: expect.any(String),
        trace_id: TRACE,
      }),
    );
  });

  test('contains no credentials, URLs, file names or texts of errors', () => {
    const sent = collector.bodies().join('\n');
    const planted = [...Object.values(SECRETS), tokenOf('ann'), FILENAME, 'ticket=', '/~', 'http://'];
    for (const text of planted) expect(sent).not.toContain(text);
  });

  test('is stored beside the payload of a job, which does not see it', async () => {
    const jobs = await rows(data.dataDir, "select data from pgboss.job where data ->> 'assetId' = $1", [
      assetId,
    ]);
    expect(jobs.length).toBeGreaterThan(1);
    for (const { data } of jobs)
      expect(data).toMatchObject({ traceparent: expect.stringMatching(`^00-${TRACE}-[0-9a-f]{16}-01$`) });
  });
});

test('without a collector nothing changes but a line of the log, and the process stops', async () => {
  const own = await startSharedData();
  const service = await startProcess({
    ...own.environment,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
  });
  const started = await openUpload(service, 'ann');
  await putBytes(started, await readFile(await makeClip({ seconds: 1 })));
  await call(service, `POST /media/${started.asset_id}/complete`, { headers: asUser('ann') });
  expect(await settled(service, 'ann', started.asset_id)).toMatchObject({ stream_status: 'ready' });
  await eventually(
    async () => service.log(),
    (log) => log.includes('traces were not exported'),
  );
  const begin = performance.now();
  expect(await service.end('SIGTERM')).toEqual({ code: 0, signal: null });
  expect(performance.now() - begin).toBeLessThan(10_000);
  expect(service.log().match(/traces were not exported/g)).toHaveLength(1);
  await endAllIn(own.dataDir);
  await own.remove();
});
