// Tests outbound webhook signatures with the reference implementation of Standard Webhooks.
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { createWebhookSecret, signWebhook } from './webhook-signature.ts';

const [current, previous, other] = [createWebhookSecret(), createWebhookSecret(), createWebhookSecret()];
const content = { id: '019aab7c-6b1e-7d02-8c4f-2a1b3c4d5e6f', at: new Date(), body: '{"title":"Ünï"}' };
const verify = (secret: typeof current, headers: Readonly<Record<string, string>>, body = content.body) =>
  new Webhook(secret.reveal()).verify(body, headers);

test('a secret is whsec_ and 32 random bytes in Base64', () => {
  expect(current.reveal()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(current.reveal()).not.toBe(other.reveal());
});

test('the signature verifies with the secret, for this body only', () => {
  const headers = signWebhook(content, [current]);
  expect(headers['webhook-id']).toBe(content.id);
  expect(verify(current, headers)).toEqual({ title: 'Ünï' });
  expect(() => verify(other, headers)).toThrow(WebhookVerificationError);
  expect(() => verify(current, headers, '{}')).toThrow(WebhookVerificationError);
});

test('during a rotation either secret verifies', () => {
  const headers = signWebhook(content, [current, previous]);
  expect(headers['webhook-signature']?.split(' ')).toHaveLength(2);
  expect(verify(current, headers)).toEqual(verify(previous, headers));
  expect(() => verify(other, headers)).toThrow(WebhookVerificationError);
});
