// Tests transfers against a tus server in memory: whole, continued after failures, and given up.
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import type { BodyRequest, BodyResponse } from '../../platform/outbound/send-body.ts';
import { contextOf } from '../../platform/values/context.fixture.ts';
import { type HostedApi, ProviderError } from '../../providers/provider.ts';
import { uploadKey } from '../../storage/object-key.ts';
import { createIntake } from '../context.fixture.ts';
import type { UploadsContext } from '../context.ts';
import { openTusUpload, sendByTus, sendWhole, type Transfer } from './transfer-bytes.ts';
import type { TusTarget } from './transfer-requests.ts';

const FILE = Buffer.from('the bytes of a stored video');
const ID = '018f0000-0000-7000-8000-000000000000';
const UPLOAD = { url: 'https://up.example/u1', headers: { key: 'k' }, chunkSize: 10 };
const TARGET: TusTarget = {
  protocol: 'tus',
  method: 'POST',
  url: 'https://up.example/',
  headers: { key: 'k' },
  fields: {},
  chunk_size_bytes: 10,
  expires_at: '2026-01-01T00:00:00.000Z',
  max_bytes: 1000,
};

const { chunk_size_bytes: _size, ...COMMON } = TARGET;
const WHOLE_TARGETS = {
  put: { ...COMMON, protocol: 'put', method: 'PUT' },
  form: { ...COMMON, protocol: 'form', method: 'POST' },
} as const;

type Seen = { readonly method: string; readonly url: string; readonly length: number | undefined };
type Fault = (request: BodyRequest) => BodyResponse | 'lost' | number | undefined;

const respond = (status: number, headers: Record<string, string> = {}): BodyResponse => ({
  status,
  headers: new Headers(headers),
});

type SendBody = UploadsContext['intake']['outbound']['sendBody'];

const createContext = (sendBody: SendBody): UploadsContext =>
  contextOf<UploadsContext>({
    store: {
      stream: (_key, { start, end } = { start: 0, end: FILE.length - 1 }) =>
        Readable.from([FILE.subarray(start, end + 1)]),
    },
    clocks: { now: () => new Date(0) },
    providers: { call: (_name, work) => work(NO_API) },
    intake: createIntake({ outbound: contextOf<UploadsContext['intake']['outbound']>({ sendBody }) }),
  });

const NO_API = contextOf<HostedApi>({});

/**
 * `fault` answers a request instead of the server; `lost` loses the response, and a number cuts the body.
 */
function createWorld(fault: Fault = () => undefined) {
  let stored = Buffer.alloc(0);
  const seen: Seen[] = [];
  const pauses: number[] = [];
  const sent: number[] = [];
  async function append(request: BodyRequest, length?: number): Promise<BodyResponse> {
    if (Number(request.headers['Upload-Offset']) !== stored.length) return respond(409);
    stored = Buffer.concat([stored, (await buffer(request.bytes)).subarray(0, length)]);
    return respond(204, { 'upload-offset': String(stored.length) });
  }
  const ctx = createContext(async (request) => {
    seen.push({ method: request.method, url: request.url, length: request.length });
    const planned = fault(request);
    if (typeof planned === 'object') return planned;
    const lost = { failure: 'unreachable', cause: new Error('cut') } as const;
    if (typeof planned === 'number') {
      await append(request, planned);
      return lost;
    }
    if (request.method === 'HEAD') return respond(200, { 'upload-offset': String(stored.length) });
    if (request.method === 'POST') return respond(201, { location: '/u1' });
    const response = await append(request);
    return planned === 'lost' ? lost : response;
  });
  const transfer: Transfer = {
    file: {
      provider: 'cdnhost',
      key: uploadKey(ID, ID),
      sizeBytes: FILE.length,
      filename: 'clip.mp4',
      mimeType: 'video/mp4',
    },
    signal: new AbortController().signal,
    wait: async (ms) => pauses.push(ms),
    onSent: async (bytes) => void sent.push(bytes),
    isDue: () => false,
  };
  return { ctx, transfer, seen, pauses, sent, stored: () => stored.toString() };
}

/** Applies to the first requests of a method. */
function inTurn(method: string, ...planned: readonly (BodyResponse | 'lost' | number)[]): Fault {
  const left = [...planned];
  return (request) => (request.method === method ? left.shift() : undefined);
}

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'nothing failed',
    (error: unknown) => (error instanceof ProviderError ? error.failure.code : error),
  );

describe('by tus', () => {
  test('a file is sent in chunks', async () => {
    const { ctx, transfer, seen, sent, stored } = createWorld();
    await sendByTus(ctx, transfer, UPLOAD);
    expect(stored()).toBe(FILE.toString());
    expect(seen.map(({ method, length }) => `${method} ${length}`)).toEqual([
      'HEAD undefined',
      'PATCH 10',
      'PATCH 10',
      'PATCH 7',
    ]);
    expect(sent).toEqual([10, 20, 27]);
  });

  test('it gives way at the end of a chunk, and a later call sends the rest', async () => {
    const { ctx, transfer, stored } = createWorld();
    expect(await sendByTus(ctx, { ...transfer, isDue: () => true }, UPLOAD)).toBe('yielded');
    expect(stored()).toBe(FILE.subarray(0, 10).toString());
    expect(await sendByTus(ctx, transfer, UPLOAD)).toBe('sent');
    expect(stored()).toBe(FILE.toString());
  });

  test.each([
    ['a cut in a chunk', inTurn('PATCH', 4)],
    ['a lost response', inTurn('PATCH', 'lost')],
    ['an error of the provider', inTurn('PATCH', respond(500))],
    ['another offset', inTurn('PATCH', respond(409))],
    ['a lock of an earlier request', inTurn('PATCH', respond(423), respond(423))],
    ['a response without an offset', inTurn('PATCH', respond(204))],
    ['a response that confirms no byte', inTurn('PATCH', respond(204, { 'upload-offset': '0' }))],
    ['a rate limit', inTurn('PATCH', respond(429, { 'retry-after': '7' }))],
    ['failures without end, between which bytes arrive', inTurn('PATCH', 1, 1, 1, 1, 1, 1, 1, 1)],
    ['a failed question for the offset', inTurn('HEAD', respond(503), respond(503))],
  ])('it continues after %s', async (_case, fault) => {
    const { ctx, transfer, pauses, stored } = createWorld(fault);
    await sendByTus(ctx, transfer, UPLOAD);
    expect(stored()).toBe(FILE.toString());
    expect(pauses.length).toBeGreaterThan(0);
  });

  test('it waits as long as the provider says', async () => {
    const { ctx, transfer, pauses } = createWorld(inTurn('PATCH', respond(429, { 'retry-after': '7' })));
    await sendByTus(ctx, transfer, UPLOAD);
    expect(pauses).toEqual([7000]);
  });

  test.each([
    ['four failures in a row', () => respond(500), { code: 'provider_error', pauses: 3 }],
    [
      'four responses that confirm no byte',
      ({ method }: BodyRequest) => respond(method === 'HEAD' ? 200 : 204, { 'upload-offset': '0' }),
      { code: 'provider_error', pauses: 3 },
    ],
    [
      'a long pause',
      () => respond(429, { 'retry-after': '60' }),
      { code: 'provider_rate_limited', pauses: 0 },
    ],
    ['an upload that is gone', () => respond(410), { code: 'provider_video_missing', pauses: 0 }],
    ['a refusal', () => respond(413), { code: 'provider_rejected', pauses: 0 }],
    ['refused credentials', () => respond(401), { code: 'provider_credentials', pauses: 0 }],
  ] as const)('%s end it', async (_case, fault, { code, pauses }) => {
    const world = createWorld(fault);
    expect(await failureOf(sendByTus(world.ctx, world.transfer, UPLOAD))).toBe(code);
    expect(world.pauses).toHaveLength(pauses);
  });

  test('an error of the store is not one of the provider', async () => {
    const { ctx, transfer } = createWorld();
    const store = {
      stream: () =>
        new Readable({
          read() {
            this.destroy(new Error('the store is down'));
          },
        }),
    };
    const broken = { ...ctx, store: contextOf<UploadsContext['store']>(store) };
    await expect(sendByTus(broken, transfer, UPLOAD)).rejects.toThrow('the store is down');
  });
});

describe('the upload of a target', () => {
  test('is created where its URL creates one', async () => {
    const { ctx, transfer, seen } = createWorld();
    expect(await openTusUpload(ctx, transfer, TARGET)).toEqual(UPLOAD);
    expect(seen).toEqual([{ method: 'POST', url: TARGET.url, length: 0 }]);
  });

  test('is the target that the provider has created', async () => {
    const { ctx, transfer, seen } = createWorld();
    const opened = await openTusUpload(ctx, transfer, { ...TARGET, method: 'PATCH', url: UPLOAD.url });
    expect(opened).toEqual(UPLOAD);
    expect(seen).toEqual([]);
  });

  test('is an error of the provider without a Location', async () => {
    const { ctx, transfer } = createWorld(() => respond(201));
    expect(await failureOf(openTusUpload(ctx, transfer, TARGET))).toBe('provider_error');
  });
});

describe('in one request', () => {
  const body = async (protocol: 'put' | 'form'): Promise<string> => {
    let received = '';
    const { transfer, sent } = createWorld();
    const send: SendBody = async ({ method, length, bytes }) => {
      const whole = await buffer(bytes);
      expect(whole).toHaveLength(length ?? 0);
      received = `${method} ${whole}`;
      return respond(200);
    };
    await sendWhole(createContext(send), transfer, WHOLE_TARGETS[protocol]);
    expect(sent).toEqual([FILE.length]);
    return received;
  };

  test('a PUT has the bytes alone', async () => {
    expect(await body('put')).toBe(`PUT ${FILE}`);
  });

  test('a form has the file in a field', async () => {
    expect(await body('form')).toMatch(RegExp(`^POST --.*name="file".*\r\n\r\n${FILE}\r\n--.*--\r\n$`, 's'));
  });

  test('a failure is not repeated', async () => {
    const { ctx, transfer, seen } = createWorld(() => respond(500));
    const sending = sendWhole(ctx, transfer, WHOLE_TARGETS.put);
    expect(await failureOf(sending)).toBe('provider_error');
    expect(seen).toHaveLength(1);
  });
});
