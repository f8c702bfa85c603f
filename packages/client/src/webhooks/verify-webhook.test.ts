// Webhooks are signed as Standard Webhooks says: its own library and the SDK understand each other.
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { verifyWebhook } from './verify-webhook.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const EVENT = { id: 'e1', type: 'asset.ready', data: { note: 'größer' } };
const payload = JSON.stringify(EVENT);

function sign({ secrets = [SECRET], body = payload, at = new Date() } = {}): Record<string, string> {
  const signatures = secrets.map((secret) => new Webhook(secret).sign('msg_1', at, body));
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': signatures.join(' '),
  };
}

test('returns the event, for headers and bodies of every kind', async () => {
  const headers = sign();
  expect(await verifyWebhook({ payload, headers, secrets: SECRET })).toEqual(EVENT);
  expect(await verifyWebhook({ payload, headers: new Headers(headers), secrets: [SECRET] })).toEqual(EVENT);
  const upper = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]),
  );
  expect(await verifyWebhook({ payload: Buffer.from(payload), headers: upper, secrets: SECRET })).toEqual(
    EVENT,
  );
});

test('accepts either secret, and either of two signatures, during a rotation', async () => {
  expect(await verifyWebhook({ payload, headers: sign(), secrets: [OTHER, SECRET] })).toEqual(EVENT);
  const both = sign({ secrets: [OTHER, SECRET] });
  expect(await verifyWebhook({ payload, headers: both, secrets: SECRET })).toEqual(EVENT);
  const unknown = { ...sign(), 'webhook-signature': `v1a,AAAA v1,%% v2,x ${sign()['webhook-signature']}` };
  expect(await verifyWebhook({ payload, headers: unknown, secrets: SECRET })).toEqual(EVENT);
});

describe('refuses', () => {
  const minutes = (count: number): Date => new Date(Date.now() + count * 60_000);
  test.each([
    ['no headers', 'missing', {}],
    ['another secret', 'bad_signature', sign({ secrets: [OTHER] })],
    ['another body', 'bad_signature', sign({ body: `${payload} ` })],
    ['another id', 'bad_signature', { ...sign(), 'webhook-id': 'msg_2' }],
    ['no signature of version 1', 'bad_signature', { ...sign(), 'webhook-signature': 'v2,AAAA' }],
    ['an old signature', 'expired', sign({ at: minutes(-6) })],
    ['a signature from the future', 'expired', sign({ at: minutes(6) })],
    ['a time that is none', 'malformed', { ...sign(), 'webhook-timestamp': '1e9' }],
  ])('%s', async (_name, reason, headers) => {
    const error = { errorCode: 'INVALID_SIGNATURE', reason };
    await expect(verifyWebhook({ payload, headers, secrets: SECRET })).rejects.toMatchObject(error);
    const verdict = () => new Webhook(SECRET).verify(payload, headers as Record<string, string>);
    if (reason !== 'malformed') expect(verdict).toThrow();
  });
  test('a signed body that is not JSON', async () => {
    const verifying = verifyWebhook({ payload: 'x', headers: sign({ body: 'x' }), secrets: SECRET });
    await expect(verifying).rejects.toMatchObject({ reason: 'invalid_payload' });
  });
  test('secrets that are none, as a mistake of the program', async () => {
    await expect(verifyWebhook({ payload, headers: sign(), secrets: 'whsec_%' })).rejects.toThrow(TypeError);
  });
});
