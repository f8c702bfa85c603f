// Tests the message at the start.
import { expect, test } from 'vitest';
import { verifyAccessToken } from './auth/tokens/access-token.ts';
import { toSecret } from './auth/secret.ts';
import { readConfig } from './config.ts';
import { renderBanner } from './start-banner.ts';

const MADE = {
  ACCESS_TOKEN_SECRET: 'made-by-the-service-0123456789abcdef-made',
  SERVICE_API_KEY: 'made-service-key-0123456789abcdef-made-key',
  OPERATOR_KEY: 'made-operator-key-0123456789abcdef-made-op',
};
const GIVEN = 'given-by-the-operator-0123456789abcdef-given';
const NOW = new Date('2026-01-01T00:00:00Z');

function bannerOf(settings: Record<string, string>): string {
  return renderBanner({
    config: readConfig(settings, (path) => path),
    local: { file: '/data/secrets.json', values: MADE, warnings: [] },
    address: 'http://127.0.0.1:8080',
    healthAddress: undefined,
    consoleUrl: undefined,
    locations: { database: '/data/postgres', store: '/data/objects' },
    encoderMissing: undefined,
    sandboxMissing: [],
    now: NOW,
  });
}
const tokenIn = (banner: string) => /TOKEN=(\S+)/.exec(banner)?.[1] ?? '';

test('a token signed with a generated secret is valid for one day', () => {
  const token = tokenIn(bannerOf(MADE));
  const at = (seconds: number) =>
    verifyAccessToken(token, [toSecret(MADE.ACCESS_TOKEN_SECRET)], NOW.getTime() / 1000 + seconds);
  expect(at(0)).toMatchObject({ userId: 'ann' });
  expect(at(86_000)).toMatchObject({ userId: 'ann' });
  expect(at(86_410)).toMatchObject({ fault: { reason: 'expired' } });
});

test("nothing is signed with an operator's own secret", () => {
  const banner = bannerOf({ ...MADE, ACCESS_TOKEN_SECRET: GIVEN });
  expect(banner).toContain("TOKEN='<an access token of your application");
  expect(banner).not.toMatch(/eyJ/);
});

test('the example waits for the end of the encoding before it asks for playback', () => {
  const lines = bannerOf(MADE).split('\n');
  const wait = lines.findIndex((line) => /until .*"stream_status":"\(ready\|failed\)".* done$/.test(line));
  const playback = lines.findIndex((line) => line.endsWith('/playback'));
  expect(wait).toBeGreaterThan(0);
  expect(playback).toBeGreaterThan(wait);
});

test('no secret is shown', () => {
  for (const banner of [bannerOf(MADE), bannerOf({ ...MADE, ACCESS_TOKEN_SECRET: GIVEN })])
    for (const text of [...Object.values(MADE), GIVEN]) expect(banner).not.toContain(text);
});
