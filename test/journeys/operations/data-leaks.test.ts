// No route reveals data of an asset without access, and no error reveals internals (contract B2, B7).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { issueTicket } from '../../../service/src/auth/tickets/asset-ticket.ts';
import { expectRefusal } from '../../support/http/envelope.ts';
import { openUpload, type Started, VIDEO } from '../../support/media.ts';
import { routesOf } from '../../support/http/openapi.ts';
import { asService, asUser, call, startTestService, type TestService } from '../../support/service.ts';

const OWNER = 'planted-owner-ann';
const VIDEO_ID = 'planted-provider-video';
const WORDS = {
  filename: 'planted-filename.mp4',
  title: 'planted-title',
  tags: ['planted-tag'],
  metadata: { note: 'planted-metadata' },
};
const OPEN = ['/healthz', '/readyz', '/docs', '/api/v1/openapi.json'];

let service: TestService;
let id: string;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api', LOG_LEVEL: 'silent' });
  const { body } = await call<Started>(service, 'POST /media/upload-url?expand=asset', {
    headers: asService,
    json: { ...VIDEO, ...WORDS, owner_user_id: OWNER, provider: 'cdnhost', provider_video_id: VIDEO_ID },
  });
  id = body.data.asset_id;
  await openUpload(service, 'eve');
});
afterAll(() => service?.stop());

/** Every route of the service but the open pages, asked for this asset. */
const lines = (): string[] =>
  routesOf(service)
    .filter((route) => /^(?:GET|POST|PUT|PATCH|DELETE) /.test(route))
    .filter((route) => !OPEN.some((path) => route.includes(` ${path}`)))
    .map((route) => route.replace(/:\w+/g, id).replace(/\*$/, 'hls.m3u8'));

async function answerTo(line: string, headers: Record<string, string>): Promise<string> {
  const [method = '', path = ''] = line.split(' ');
  const hasBody = method !== 'GET';
  const answer = await fetch(`${service.address}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...headers,
      'last-event-id': FIRST_EVENT,
      ...(hasBody && { 'content-type': 'application/json' }),
    },
    ...(hasBody && { body: '{}' }),
  });
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream');
  const text = isStream ? await readOwnEvent(answer) : await answer.text();
  return `${answer.status} ${JSON.stringify([...answer.headers])} ${text}`;
}

/** Streams start with the first event of all, and the caller's own asset is newer than the other one. */
const FIRST_EVENT = '0-00000000-0000-0000-0000-000000000000';

async function readOwnEvent({ body }: Response): Promise<string> {
  let text = '';
  for await (const chunk of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes('"owner_user_id":"eve"')) break;
  }
  return text;
}

describe('a caller without access to an asset', () => {
  const download = () =>
    issueTicket(service.adapters.urlSecrets, 'upload', { assetId: id, expires: Date.now() });
  test.each<[string, () => Record<string, string>, () => string]>([
    ['without credentials', () => ({}), () => ''],
    ['as another user', () => asUser('eve'), () => ''],
    ['with a wrong service key', () => ({ 'x-service-key': 'wrong' }), () => ''],
    ['with a wrong operator key', () => ({ 'x-operator-key': 'wrong' }), () => ''],
    ['with a wrong ticket or token', () => ({}), () => `?ticket=${download()}x&token=x`],
  ])('gets no data of it: %s', async (_who, headers, query) => {
    const asked = lines();
    expect(asked.length).toBeGreaterThan(20);
    for (const line of asked) {
      const answer = await answerTo(`${line}${query()}`, headers());
      expect.soft(answer, line).not.toContain('planted');
      expect.soft(answer, line).not.toMatch(/^5/);
      expect.soft(answer, line).not.toContain(service.dataDir);
    }
  });

  test('gets the same response for an unknown, a deleted and a malformed id', async () => {
    const gone = await call<Started>(service, 'POST /media/upload-url?expand=asset', {
      headers: asUser('ann'),
      json: VIDEO,
    });
    await call(service, `DELETE /media/${gone.body.data.asset_id}`, { headers: asUser('ann') });
    const responses = await Promise.all(
      ['00000000-0000-7000-8000-000000000000', gone.body.data.asset_id, 'x'].map(async (path) => {
        const { message, error_code, details } = expectRefusal(
          await call(service, `GET /media/${path}`, { headers: asUser('eve') }),
          404,
        );
        return { message, error_code, details };
      }),
    );
    expect(responses[1]).toEqual(responses[0]);
    expect(responses[2]).toEqual(responses[0]);
  });
});

describe('an internal error', () => {
  test.each([
    ['a statement', () => new Error(`syntax error in "select ${VIDEO_ID} from assets" of ${OWNER}`)],
    ['a disk', () => Object.assign(new Error(`ENOENT: /var/lib/x/${OWNER}`), { syscall: 'open' })],
    ['the database', () => Object.assign(new Error(`to postgres://a:b@h/${OWNER}`), { code: '57P01' })],
    ['anything thrown', () => ({ owner: OWNER })],
  ])('reveals no internals: %s', async (_what, failure) => {
    const { all } = service.adapters.db;
    Object.assign(service.adapters.db, { all: () => Promise.reject(failure()) });
    try {
      const answer = await call(service, `GET /media/${id}`, { headers: asUser(OWNER) });
      expect([500, 503]).toContain(answer.status);
      expect(JSON.stringify(expectRefusal(answer, answer.status))).not.toContain('planted');
    } finally {
      Object.assign(service.adapters.db, { all });
    }
  });
});
