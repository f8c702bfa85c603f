// Every 401 has a reason for people and programs, without revealing more than a caller may know (contract B7,
// B10).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signAccessToken } from '../../../service/src/auth/tokens/access-token.ts';
import { issueTicket } from '../../../service/src/auth/tickets/asset-ticket.ts';
import { toSecret } from '../../../service/src/auth/secret.ts';
import { UNAUTHORIZED_REASONS } from '@mediary/contract/errors';
import { issuePlaybackToken } from '../../../service/src/playback/playback-token.ts';
import { expectRefusal } from '../../support/http/envelope.ts';
import { openUpload, type Started } from '../../support/media.ts';
import { type ApiDocument, operationsOf, readDocument, responseOf } from '../../support/http/openapi.ts';
import {
  type Answer,
  asUser,
  call,
  SECRETS,
  startTestService,
  type TestService,
  tokenOf,
} from '../../support/service.ts';
import { signatureOf } from '../../support/providers/webhooks.ts';

let service: TestService;
let started: Started;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api', EDGEHOST_STREAM_WEBHOOK_SECRET: undefined });
  started = await openUpload(service, 'ann');
});
afterAll(() => service?.stop());

const now = () => Math.floor(Date.now() / 1000);
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const forged = (claims: object) =>
  bearer(
    signAccessToken({ user_id: 'ann', type: 'access', ...claims }, toSecret('of-somebody-else-0123456789')),
  );

function expectUnauthorized(answer: Answer, details: object): Answer {
  const refusal = expectRefusal(answer, 401);
  expect(refusal.error_code).toBe('UNAUTHORIZED');
  expect(refusal.details).toEqual(details);
  return answer;
}
const challengeOf = ({ headers }: Answer) => headers.get('www-authenticate');

describe('an access token that is rejected', () => {
  const cases: readonly (readonly [string, () => Record<string, string>, object])[] = [
    [
      'no token, but Bearer',
      () => ({ authorization: 'Bearer' }),
      { reason: 'malformed', field: 'Authorization' },
    ],
    ['a text', () => bearer('nonsense'), { reason: 'malformed' }],
    ['a forged one', () => forged({}), { reason: 'bad_signature' }],
    [
      'a refresh token',
      () => bearer(tokenOf('ann', { type: 'refresh' })),
      { reason: 'wrong_type', field: 'type' },
    ],
    [
      'no type',
      () => bearer(tokenOf('ann', { type: undefined })),
      { reason: 'missing_claim', field: 'type' },
    ],
    ['no user', () => bearer(tokenOf(' ')), { reason: 'missing_claim', field: 'user_id' }],
    [
      'an expired one',
      () => bearer(tokenOf('ann', { exp: now() - 60 })),
      { reason: 'expired', field: 'exp' },
    ],
    [
      'an early one',
      () => bearer(tokenOf('ann', { nbf: now() + 60 })),
      { reason: 'not_yet_valid', field: 'nbf' },
    ],
  ];
  test.each(cases)('%s', async (what, headers, details) => {
    for (const line of [
      'GET /media',
      `GET /media/${started.asset_id}`,
      'POST /media/upload-url?expand=asset',
    ]) {
      const answer = expectUnauthorized(await call(service, line, { headers: headers() }), details);
      expect(challengeOf(answer)).toMatch(
        what === 'no token, but Bearer' ? /^Bearer$/ : /^Bearer error="invalid_token"/,
      );
    }
  });

  test('has its claims checked only after its signature', async () => {
    const answers = await Promise.all(
      [{}, { exp: 1 }, { nbf: now() + 9999 }, { type: 'refresh' }, { user_id: null }].map((claims) =>
        call(service, 'GET /media', { headers: forged(claims) }),
      ),
    );
    const refusals = answers.map(({ headers, body }) => [
      headers.get('www-authenticate'),
      body.message,
      body.error,
    ]);
    expect(new Set(refusals.map((each) => JSON.stringify(each))).size).toBe(1);
  });
});

describe('credentials of other kinds', () => {
  test('none at all: the challenge names the scheme and no error', async () => {
    const answer = expectUnauthorized(await call(service, 'GET /media'), { reason: 'missing' });
    expect(challengeOf(answer)).toBe('Bearer');
  });

  test('both schemes', async () => {
    const headers = { ...asUser('ann'), 'x-service-key': SECRETS.SERVICE_API_KEY };
    const answer = expectUnauthorized(await call(service, 'GET /media', { headers }), {
      reason: 'multiple_credentials',
    });
    expect(challengeOf(answer)).toBe('Bearer error="invalid_request"');
  });

  test.each([
    ['GET /media', 'X-Service-Key', 'wrong', 'invalid_credential', 'Bearer'],
    ['GET /media', 'X-Service-Key', '', 'missing', 'Bearer'],
    ['GET /admin/providers', 'X-Operator-Key', 'wrong', 'invalid_credential', null],
    ['GET /admin/providers', 'X-Operator-Key', '', 'missing', null],
  ])('%s with %s "%s": %s', async (...[line, field, key, reason, challenge]) => {
    const answer = await call(service, line, { headers: { [field]: key } });
    expect(challengeOf(expectUnauthorized(answer, { reason, field }))).toBe(challenge);
  });

  test('a missing operator key', async () => {
    expectUnauthorized(await call(service, 'GET /admin/providers'), {
      reason: 'missing',
      field: 'X-Operator-Key',
    });
  });
});

describe('signed URLs', () => {
  const ticketOf = (kind: 'upload' | 'download', expires: number) =>
    issueTicket(service.adapters.urlSecrets, kind, { assetId: started.asset_id, expires });

  test.each([
    ['', 'missing'],
    ['?ticket=', 'missing'],
    ['?ticket=nonsense', 'invalid_credential'],
  ])('with the query "%s"', async (query, reason) => {
    for (const path of ['PUT /uploads', 'GET /downloads'])
      expectUnauthorized(await call(service, `${path}/${started.asset_id}${query}`), { reason });
  });

  test('that have expired', async () => {
    const path = started.asset_id;
    const [upload, download] = [ticketOf('upload', now() - 1), ticketOf('download', now() - 1)];
    expectUnauthorized(await call(service, `PUT /uploads/${path}?ticket=${upload}`), { reason: 'expired' });
    expectUnauthorized(await call(service, `GET /downloads/${path}?ticket=${download}`), {
      reason: 'expired',
    });
    expectUnauthorized(await call(service, `GET /downloads/${path}?ticket=${upload}`), {
      reason: 'invalid_credential',
    });
  });

  test('playback tokens', async () => {
    const asset = { id: started.asset_id, playback_version: 1 };
    const expired = issuePlaybackToken(service.adapters.urlSecrets, asset, now() - 1);
    const path = `GET /playback/${asset.id}`;
    expectUnauthorized(await call(service, `${path}/~${expired}/hls.m3u8`), { reason: 'expired' });
    expectUnauthorized(await call(service, `${path}/~nonsense/hls.m3u8`), { reason: 'invalid_credential' });
  });
});

test('webhooks keep their messages', async () => {
  const send = (provider: string, headers: Record<string, string>, body = '{}') =>
    call(service, `POST /webhooks/stream/${provider}`, { headers, body });
  const unsigned = expectUnauthorized(await send('onprem', {}), { reason: 'bad_signature' });
  expect(unsigned.body.message).toBe('Invalid webhook signature');
  const noJson = await send('onprem', { ...signatureOf('onprem', '{') }, '{');
  expect(expectUnauthorized(noJson, { reason: 'invalid_payload' }).body.message).toBe(
    'Invalid webhook payload',
  );
  const unset = expectUnauthorized(await send('edgehost', {}), { reason: 'not_configured' });
  expect(unset.body.message).toBe('not configured');
  for (const answer of [unsigned, noJson, unset]) expect(challengeOf(answer)).toBeNull();
});

test('the OpenAPI document lists the reasons of every 401', async () => {
  const document: ApiDocument = await readDocument(service);
  const guarded = [...operationsOf(document)].filter(([, { responses }]) => '401' in responses);
  expect(guarded.length).toBeGreaterThan(15);
  for (const [name, { responses }] of guarded)
    expect(JSON.stringify(responseOf(document, responses['401'] ?? {})), name).toContain('UnauthorizedError');
  const schema = JSON.stringify(document.components.schemas['UnauthorizedError']);
  for (const [reason, meaning] of Object.entries(UNAUTHORIZED_REASONS))
    expect(schema).toContain(`\`${reason}\`: ${meaning}`);
});
