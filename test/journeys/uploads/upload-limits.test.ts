// Settings that limit uploads: size, media types and origins (contract B1, B4, B9).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectFieldRefused, expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { IMAGE, openUpload, putBytes, type Started, VIDEO } from '../../support/media.ts';
import { openSocket, readAnswer, request, sendRaw } from '../../support/http/raw-socket.ts';
import { asUser, call, startTestService, type TestService } from '../../support/service.ts';

const PAGE = 'https://app.test';
const MAX = 200_000;

let service: TestService;
beforeAll(async () => {
  service = await startTestService(
    {
      MAX_UPLOAD_BYTES: String(MAX),
      UPLOAD_TTL_S: '60',
      ALLOWED_MIME_TYPES: 'video/mp4, image/png, video/avi',
      VIDEO_PROVIDER: 'edgehost',
      CORS_ORIGINS: `${PAGE},https://other.test`,
    },
    { isStoreDirect: false },
  );
});
afterAll(() => service.stop());

const askFor = (json: object) =>
  call<Started>(service, 'POST /media/upload-url?expand=asset', { headers: asUser('ann'), json });
const open = () => openUpload(service, 'ann', IMAGE);
const targetOf = ({ upload_url: url }: Started) =>
  `${new URL(url as string).pathname}${new URL(url as string).search}`;

describe('types', () => {
  test('that the operator does not allow are rejected', async () => {
    expectSuccess(await askFor(IMAGE));
    for (const mime_type of ['image/jpeg', 'image/webp', 'video/webm'])
      expectFieldRefused(await askFor({ ...VIDEO, content_type: 'file', mime_type }), 'mime_type');
  });

  test('that the operator adds are accepted, and a refusal lists them', async () => {
    const avi = { ...VIDEO, mime_type: 'video/avi', provider: 'onprem' };
    expect(expectSuccess(await askFor(avi))['asset']).toMatchObject({ mime_type: 'video/x-msvideo' });
    const refused = await askFor({ ...VIDEO, mime_type: 'video/x-flv' });
    expect(refused.body.error.details).toMatchObject({
      field: 'mime_type',
      allowed: ['image/png', 'video/mp4', 'video/x-msvideo'],
    });
  });

  test('that the service never allows are rejected', async () => {
    expectFieldRefused(await askFor({ ...IMAGE, mime_type: 'image/svg+xml' }), 'mime_type');
  });
});

test('an unconfigured default provider rejects videos, another named provider accepts them', async () => {
  expectFieldRefused(await askFor(VIDEO), 'provider');
  expect(expectSuccess(await askFor({ ...VIDEO, provider: 'onprem' }))['asset']).toMatchObject({
    provider: 'onprem',
  });
});

test('an upload URL expires after UPLOAD_TTL_S', async () => {
  const { upload, asset } = expectSuccess<{
    upload: { expires_at: string };
    asset: { created_at: string };
  }>(await askFor(IMAGE));
  expect(Date.parse(upload.expires_at) - Date.parse(asset.created_at)).toBe(60_000);
});

describe('MAX_UPLOAD_BYTES', () => {
  const chunk = Buffer.concat([Buffer.from('8000\r\n'), Buffer.alloc(0x8000), Buffer.from('\r\n')]);

  test('can be reached', async () => {
    const started = await open();
    expect(started.upload?.max_bytes).toBe(MAX);
    expect(expectSuccess(await putBytes(started, Buffer.alloc(MAX)))).toMatchObject({ size_bytes: MAX });
  });

  test('rejects a larger announced length before any bytes', async () => {
    const started = await open();
    const answer = await sendRaw(
      service.address,
      request(`PUT ${targetOf(started)}`, ['Content-Type: image/png', `Content-Length: ${MAX + 1}`]),
    );
    expect(expectRefusal(answer, 413).details).toEqual({
      field: 'body',
      reason: 'size_above_limit',
      limit: MAX,
    });
    expectSuccess(await putBytes(started, Buffer.from('fits')));
  });

  test('rejects a larger chunked body', async () => {
    const started = await open();
    const socket = await openSocket(service.address);
    socket.write(
      request(`PUT ${targetOf(started)}`, ['Content-Type: image/png', 'Transfer-Encoding: chunked']),
    );
    for (let sent = 0; sent <= MAX; sent += 0x8000) socket.write(chunk);
    expectRefusal(await readAnswer(socket), 413);
    expectSuccess(await putBytes(started, Buffer.from('fits')));
  });
});

describe('pages of another origin', () => {
  const preflight = (path: string, origin: string) =>
    sendRaw(
      service.address,
      request(`OPTIONS ${path}`, [
        `Origin: ${origin}`,
        'Access-Control-Request-Method: PUT',
        'Access-Control-Request-Headers: content-type, x-request-id',
      ]),
    );

  test('may upload if they are listed', async () => {
    const started = await open();
    const allowed = await preflight(targetOf(started), PAGE);
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get('access-control-allow-origin')).toBe(PAGE);
    expect(allowed.headers.get('access-control-allow-methods')).toContain('PUT');
    expect(allowed.headers.get('access-control-allow-headers')).toBe('content-type, x-request-id');
    const answer = await putBytes(started, Buffer.from('bytes'), { origin: PAGE });
    expect(answer.headers.get('access-control-allow-origin')).toBe(PAGE);
    expect(answer.headers.get('vary')?.toLowerCase()).toContain('origin');
    expect(answer.headers.get('access-control-expose-headers')).toContain('X-Request-Id');
    expectSuccess(answer);
  });

  test.each([
    ['a ticket that is refused', 'PUT /uploads/0199aaaa-0000-7000-8000-000000000000?ticket=x', 401],
    ['no credentials', 'GET /media', 401],
    ['an unknown route', 'GET /nope', 404],
    ['a trailing slash', 'GET /media/', 404],
  ])('may read errors if they are listed: %s', async (_what, methodAndPath, status) => {
    const answer = await call(service, methodAndPath, { headers: { origin: PAGE } });
    expectRefusal(answer, status);
    expect(answer.headers.get('access-control-allow-origin')).toBe(PAGE);
  });

  test.each([
    'https://app.test.evil.test',
    'http://app.test',
    'https://app.test:8443',
    'null',
    'https://APP.test',
  ])('%s is not listed', async (origin) => {
    const started = await open();
    for (const answer of [
      await preflight(targetOf(started), origin),
      await putBytes(started, Buffer.from('bytes'), { origin }),
    ]) {
      expect(answer.headers.has('access-control-allow-origin')).toBe(false);
      expect(answer.headers.has('access-control-allow-credentials')).toBe(false);
    }
  });
});
