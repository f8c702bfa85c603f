// An upload by PUT: bytes, sizes, checksums and tickets.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectFieldRefused, expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { putBytes, readAsset, type Started } from '../../support/media.ts';
import { BYTES, put, putUploadsTo, sha256, urlOf } from '../../support/uploads/put-uploads.ts';
import { type RawAnswer, readAnswer } from '../../support/http/raw-socket.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
let minutesLater = 0;
beforeAll(async () => {
  service = await startTestService(
    { UPLOAD_TTL_S: '3600' },
    { now: () => new Date(Date.now() + minutesLater * 60_000), isStoreDirect: false },
  );
});
afterAll(() => service.stop());

const { open, filesOf, expectNothingStored, writerOf, begin } = putUploadsTo(() => service);

const chunked = (bytes: Uint8Array) =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n0\r\n\r\n')]);
const sendChunked = async (started: Started, bytes: Uint8Array): Promise<RawAnswer> =>
  readAnswer(await begin(started, ['Transfer-Encoding: chunked'], chunked(bytes)));

test('the bytes are stored, counted and hashed', async () => {
  const started = await open();
  const stored = expectSuccess(await putBytes(started, BYTES));
  expect(stored).toMatchObject({
    id: started.asset_id,
    size_bytes: BYTES.length,
    checksum_sha256: sha256(BYTES),
    stream_status: 'pending_upload',
  });
  expect(stored['uploaded_at']).toMatch(/Z$/);
  expect(await readAsset(service, 'ann', started.asset_id)).toEqual(stored);
});

test('a chunked body without Content-Length is accepted', async () => {
  expect(expectSuccess(await sendChunked(await open(), BYTES))).toMatchObject({
    size_bytes: BYTES.length,
    checksum_sha256: sha256(BYTES),
  });
});

test('an empty body is rejected, and the upload stays open', async () => {
  const started = await open();
  const refused = expectRefusal(await put(urlOf(started), Buffer.alloc(0)), 400);
  expect(refused.details).toEqual({ reason: 'empty_upload' });
  expectSuccess(await put(urlOf(started)));
});

describe('the ticket', () => {
  test('is required, unmodified, and valid for its own asset only', async () => {
    const [started, other] = [await open(), await open()];
    const url = new URL(urlOf(started));
    const ticket = url.searchParams.get('ticket') as string;
    const flipped = `${ticket.slice(0, 5)}${ticket[5] === 'A' ? 'B' : 'A'}${ticket.slice(6)}`;
    const withTicket = (text: string) => `${url.origin}${url.pathname}?ticket=${text}`;
    for (const bad of [
      `${url.origin}${url.pathname}`,
      withTicket(''),
      withTicket(flipped),
      withTicket(`${ticket}A`),
      withTicket(ticket.slice(0, -1)),
      urlOf(started).replace(started.asset_id, other.asset_id),
    ]) {
      expect(expectRefusal(await put(bad), 401).error_code).toBe('UNAUTHORIZED');
    }
    expectRefusal(
      await call({ url: '' }, `PUT ${url.origin}${url.pathname}`, { headers: asUser('ann'), body: BYTES }),
      401,
    );
    expectSuccess(await put(urlOf(started)));
  });

  test('does not open a download, and a download ticket does not open an upload', async () => {
    const started = await open();
    expectSuccess(await put(urlOf(started)));
    expectRefusal(await call({ url: '' }, `GET ${urlOf(started).replace('/uploads/', '/downloads/')}`), 401);
    const { body } = await call<{ url: string }>(service, `GET /media/${started.asset_id}/download-url`, {
      headers: asUser('ann'),
    });
    expectRefusal(await put(body.data.url.replace('/downloads/', '/uploads/')), 401);
  });

  test('expires at expires_at', async () => {
    const started = await open();
    try {
      minutesLater = 61;
      expectRefusal(await put(urlOf(started)), 401);
    } finally {
      minutesLater = 0;
    }
    expectSuccess(await put(urlOf(started)));
  });
});

describe('the Content-Type', () => {
  test.each(['image/png', 'IMAGE/PNG', 'image/png; charset=binary', undefined])(
    '%s is accepted',
    async (type) => {
      expectSuccess(
        await put(urlOf(await open()), BYTES, type === undefined ? {} : { 'content-type': type }),
      );
    },
  );

  test.each([
    'image/jpeg',
    'video/mp4',
    'text/html',
    'application/octet-stream',
    'application/x-www-form-urlencoded',
    'nonsense',
  ])('%s is rejected', async (type) => {
    const started = await open();
    const refused = expectRefusal(await put(urlOf(started), BYTES, { 'content-type': type }), 415);
    expect(refused).toMatchObject({
      error_code: 'UNSUPPORTED_MEDIA_TYPE',
      details: { expected: 'image/png' },
    });
    expect(await filesOf(started.asset_id)).toEqual([]);
  });
});

describe('a partial or compressed body', () => {
  test.each([
    ['Content-Range', 'bytes 5-48/49', 'partial_upload'],
    ['Content-Range', 'bytes 0-48/49', 'partial_upload'],
    ['Content-Encoding', 'gzip', 'encoded_upload'],
    ['Content-Encoding', 'br, identity', 'encoded_upload'],
  ])('is rejected by its %s: %s', async (field, value, reason) => {
    const started = await open();
    const answer = await putBytes(started, BYTES.subarray(5), { [field]: value });
    expect(expectRefusal(answer, 400).details).toMatchObject({ field, reason, value });
    expect(answer.body.message).toContain(`${field} "${value}"`);
    expect(await filesOf(started.asset_id)).toEqual([]);
    expectSuccess(await putBytes(started, BYTES, { 'content-encoding': 'identity' }));
  });
});

describe('the length', () => {
  test('must be the announced one', async () => {
    const started = await open({ size_bytes: BYTES.length });
    for (const bytes of [BYTES.subarray(1), Buffer.concat([BYTES, BYTES])]) {
      expectFieldRefused(await put(urlOf(started), bytes), 'size_bytes');
      expectFieldRefused(await sendChunked(started, bytes), 'size_bytes');
      await expectNothingStored(started.asset_id);
    }
    expect((await readAsset(service, 'ann', started.asset_id))['uploaded_at']).toBeNull();
    expectSuccess(await put(urlOf(started)));
  });

  test.each([
    ['announced', { size_bytes: BYTES.length }],
    ['not announced', {}],
  ])('an aborted upload leaves no files, and can be repeated (%s)', async (_what, fields) => {
    const started = await open(fields);
    const socket = await begin(started, [`Content-Length: ${BYTES.length}`], BYTES.subarray(0, 10));
    await writerOf(started);
    socket.destroy();
    await eventually(
      () => put(urlOf(started)),
      ({ status }) => status === 200,
    );
    expect(await readAsset(service, 'ann', started.asset_id)).toMatchObject({
      size_bytes: BYTES.length,
      checksum_sha256: sha256(BYTES),
    });
    expect(await filesOf(started.asset_id)).toHaveLength(1);
  });
});
