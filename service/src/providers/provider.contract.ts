// Contract tests of providers; must be called inside a `describe` (contract A5, B6).
import { expect, test } from 'vitest';
import type { WebhookRequest, Provider } from './provider.ts';

type ProviderSubject = {
  /** The provider with all settings. */
  readonly configured: Provider;
  /** The provider without settings. */
  readonly bare: Provider;
  /** A body as sent by the provider. */
  readonly signed: (body: string) => WebhookRequest;
  /** Bodies and the relevant members of their parsed form. */
  readonly samples: readonly (readonly [body: string, expected: object])[];
};

/** Bodies with a valid signature that require no action. */
const IGNORED_BODIES = [
  'null',
  'true',
  '7',
  '""',
  '"text"',
  '[]',
  '[null]',
  '{}',
  '{"status":null}',
  '{"status":{}}',
  '{"__proto__":{"status":"ready"}}',
  `${'['.repeat(10_000)}${']'.repeat(10_000)}`,
];
const INVALID_JSON = ['', ' ', '{', '{"a":1,}', "{'a':1}", 'a=1', '\ufeff{}', '{}{}', 'NaN', '{"a":1}\0'];

export function providerContract({ configured, bare, signed, samples }: ProviderSubject): void {
  test.each(samples)('parses a body of the provider: %s', (body, expected) => {
    expect(configured.verify(signed(body))).toMatchObject(expected);
  });

  test('parses a body that was verified before to the same report', () => {
    for (const [body] of samples)
      expect(configured.parse(Buffer.from(body), { isOwnEncoder: false })).toEqual(
        configured.verify(signed(body)),
      );
  });

  test('rejects every webhook while its secret is not set', () => {
    for (const [body] of samples) expect(bare.verify(signed(body))).toEqual({ rejected: 'not configured' });
    expect(bare.verify(unsigned('{}'))).toEqual({ rejected: 'not configured' });
  });

  test('rejects a webhook without a signature, or with that of another body', () => {
    const rejected = { rejected: 'Invalid webhook signature' };
    for (const [body] of samples) {
      expect(configured.verify(unsigned(body))).toEqual(rejected);
      expect(configured.verify({ ...signed(body), body: Buffer.from(`${body} `) })).toEqual(rejected);
    }
    expect(configured.verify({ ...unsigned('no JSON'), headers: signed('{}').headers })).toEqual(rejected);
  });

  test.each(IGNORED_BODIES.map((body) => [body.slice(0, 40), body]))(
    'ignores a signed body of another shape: %s',
    (_, body) => {
      expect(configured.verify(signed(body))).toEqual({ reason: 'not_actionable' });
    },
  );

  test.each(INVALID_JSON)('rejects a signed body that is not JSON: %j', (body) => {
    expect(configured.verify(signed(body))).toEqual({ rejected: 'Invalid webhook payload' });
  });

  test('rejects bytes that are not UTF-8', () => {
    const { headers, now } = signed('{}');
    expect(configured.verify({ headers, now, body: Uint8Array.of(0x7b, 0xff, 0x7d) })).toHaveProperty(
      'rejected',
    );
    expect(() => configured.parse(Uint8Array.of(0x7b, 0xff, 0x7d), { isOwnEncoder: false })).toThrow(
      TypeError,
    );
  });

  capabilities(configured, bare);
}

function capabilities(configured: Provider, bare: Provider): void {
  test.each([
    ['configured', configured],
    ['bare', bare],
  ])('%s, its capabilities match its settings', (_, { api, kind, capabilities: can, verify }) => {
    expect({ inspection: can.inspection, uploads: can.uploads }).toEqual({
      inspection: api !== undefined,
      uploads: kind === 'encoder' || api !== undefined,
    });
    const result = verify(unsigned('{}'));
    if (!can.webhooks) expect(result).toEqual({ rejected: 'not configured' });
    expect(can.missingSettings.filter((name) => !/^[A-Z][A-Z0-9_]+$/.test(name))).toEqual([]);
    if (!can.webhooks || !can.uploads) expect(can.missingSettings.length).toBeGreaterThan(0);
  });

  test('configured, it has all settings', () => {
    expect(configured.capabilities).toMatchObject({ webhooks: true, uploads: true, missingSettings: [] });
  });

  playbackUrls(configured, bare);
}

function playbackUrls(configured: Provider, bare: Provider): void {
  test('playback of a hosted video has no warning with all settings, and no URLs without settings', () => {
    const video = { kind: 'hosted', attempt: 1, videoId: VIDEO } as const;
    expect(configured.playback !== undefined).toBe(configured.kind === 'hosted');
    expect(configured.playback?.(video).warning).toBeUndefined();
    const { urls, warning } = bare.playback?.(video) ?? {};
    expect(Object.values(urls ?? {}).filter((url) => url !== null)).toEqual([]);
    if (warning) expect(warning.code).toBe('playback_unconfigured');
  });

  test('signs the URLs of private videos without changing their hosts', () => {
    const urls = {
      hls: `https://cdn.example/${VIDEO}/a.m3u8`,
      dash: null,
      thumbnail: `https://cdn.example/${VIDEO}/t.jpg`,
    };
    const video = { videoId: VIDEO, urls, isPrivate: true, expires: Math.floor(Date.now() / 1000) + 3600 };
    expect(bare.sign(video)).toBeUndefined();
    const signed = configured.sign(video);
    if (configured.kind === 'hosted')
      expect(signed !== undefined).toBe(configured.capabilities.signedPlayback);
    if (!signed) return;
    expect(signed).toEqual({
      expires: video.expires,
      hls: expect.stringMatching(/^https:\/\/cdn\.example\/.+\/a\.m3u8$/),
      dash: null,
      thumbnail: expect.stringMatching(/^https:\/\/cdn\.example\/.+\/t\.jpg$/),
    });
    expect(
      [signed.hls, signed.thumbnail].filter((url) => url === urls.hls || url === urls.thumbnail),
    ).toEqual([]);
    expect(configured.sign({ ...video, urls: { hls: null, dash: null, thumbnail: null } })).toEqual({
      expires: video.expires,
      hls: null,
      dash: null,
      thumbnail: null,
    });
    const inAWeek = video.expires + 7 * 86_400;
    expect(configured.sign({ ...video, expires: inAWeek })?.expires).toBeLessThanOrEqual(inAWeek);
  });
}

const VIDEO = '11112222-3333-4444-8555-666677778888';

const unsigned = (body: string): WebhookRequest => ({
  headers: () => [],
  body: Buffer.from(body),
  now: new Date(),
});
