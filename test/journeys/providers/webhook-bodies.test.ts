// Bodies of signed webhooks: content types, encodings, sizes and shapes (contract A6, B6).
import { gzipSync } from 'node:zlib';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call, startTestService, type TestService } from '../../support/service.ts';
import {
  type Body,
  deliver,
  LIBRARY,
  notProcessed,
  READY,
  refusedWith,
  signatureOf,
  TAKEN,
  PROVIDERS,
} from '../../support/providers/webhooks.ts';

const MIB = 1024 * 1024;
const NOT_ACTIONABLE = notProcessed('not_actionable');
const BAD_PAYLOAD = refusedWith('Invalid webhook payload');

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api', CDNHOST_STREAM_LIBRARY_ID: String(LIBRARY) });
});
afterAll(() => service?.stop());

describe.each(PROVIDERS)('a signed body for %s', (provider) => {
  const ready = () => JSON.stringify(READY[provider](randomUUID()));
  const send = (body: Body, headers: Record<string, string> = {}) =>
    deliver(service, provider, { body, headers: { ...headers, ...signatureOf(provider, body) } });

  test.each([
    undefined,
    'application/json',
    'text/plain',
    'text/plain; charset=utf-16',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    ';;;',
    'nonsense',
    '/',
    '*/*',
    'application/json; charset="',
    'application/octet-stream',
    'application/json, text/plain',
    'x'.repeat(5000),
  ])('is parsed with any Content-Type: %s', async (type) => {
    expect(await send(Buffer.from(ready()), type === undefined ? {} : { 'content-type': type })).toEqual(
      TAKEN[provider],
    );
  });

  test('is not decompressed, whatever its Content-Encoding is', async () => {
    for (const encoding of ['gzip', 'br', 'deflate', 'identity', 'nonsense']) {
      expect(await send(ready(), { 'content-encoding': encoding })).toEqual(TAKEN[provider]);
      expect(await send(gzipSync(ready()), { 'content-encoding': encoding })).toEqual(BAD_PAYLOAD);
    }
  });

  test.each([
    'null',
    '[]',
    '[{}]',
    '{}',
    '7',
    '-0',
    '1e400',
    '"ready"',
    'true',
    ' {} ',
    '{"status":{}}',
    '{"event":"ready"}',
  ])('of another shape is accepted and changes nothing: %s', async (body) => {
    expect(await send(body)).toEqual(NOT_ACTIONABLE);
  });

  test.each([
    ['empty', ''],
    ['blank', ' \n'],
    ['cut', '{"status":"ready"'],
    ['text behind it', '{}x'],
    ['a comma too many', '{"a":1,}'],
    ['single quotes', "{'a':1}"],
    ['a comment', '{}//'],
    ['NaN', '{"Status":NaN}'],
    ['a plus sign', '{"Status":+3}'],
    ['a leading zero', '{"Status":03}'],
    ['a raw line end in a text', '"a\nb"'],
    ['form fields', 'status=ready&asset_id=1'],
    ['a byte order mark', '\ufeff{}'],
    ['UTF-16', Buffer.from('{}', 'utf16le')],
    ['invalid UTF-8', Buffer.from('7b2261223a22ff227d', 'hex')],
    ['overlong UTF-8', Buffer.from('7b2261223a22c0af227d', 'hex')],
    ['half a character in UTF-8', Buffer.from('7b2261223a22eda080227d', 'hex')],
    ['a null byte', '{}\0'],
  ] as const)('with %s is an invalid payload', async (_, body) => {
    expect(await send(body)).toEqual(BAD_PAYLOAD);
  });

  test('may be up to 1 MiB long', async () => {
    const padded = (bytes: number) => ready().padEnd(bytes, ' ');
    const tooLarge = {
      status: 413,
      message: `The body is too large. At most ${MIB} bytes are allowed.`,
      data: undefined,
    };
    expect(await send(padded(MIB))).toEqual(TAKEN[provider]);
    expect(await send(padded(MIB + 1))).toEqual(tooLarge);
    expect(await deliver(service, provider, { body: Buffer.alloc(4 * MIB), headers: {} })).toEqual(tooLarge);
    expect(await send(padded(10_000_000))).toEqual(tooLarge);
    expect(await send(ready())).toEqual(TAKEN[provider]);
  });

  test('has the same limit without Content-Length', async () => {
    const body = ready().padEnd(MIB + 1, ' ');
    const statusOf = async (text: string) => {
      const stream = new Blob([text]).stream();
      return (
        await fetch(`${service.url}/webhooks/stream/${provider}`, {
          method: 'POST',
          body: stream,
          headers: signatureOf(provider, text),
          duplex: 'half',
        } as RequestInit)
      ).status;
    };
    expect(await statusOf(body)).toBe(413);
    expect(await statusOf(body.slice(0, MIB))).toBe(200);
  });

  test('that repeats a member uses the last value', async () => {
    const [first, last] = [ready(), ready()];
    const twice = `${first.slice(0, -1)},${last.slice(1)}`;
    const name = { cdnhost: 'VideoGuid', edgehost: 'uid', onprem: 'asset_id' }[provider];
    expect(JSON.parse(twice)).toEqual(JSON.parse(last));
    expect(await send(twice)).toEqual(TAKEN[provider]);
    expect(await send(`${first.slice(0, -1)},"${name}":null}`)).toEqual(NOT_ACTIONABLE);
    expect(await send(first.replace('{', `{"${name}":null,`))).toEqual(TAKEN[provider]);
    expect(await send(first.replace(name, name.toUpperCase()))).toEqual(NOT_ACTIONABLE);
  });

  test('is accepted by POST at one path only', async () => {
    for (const request of [
      `GET /webhooks/stream/${provider}`,
      `PUT /webhooks/stream/${provider}`,
      `POST /webhooks/stream/${provider}/`,
      `POST /webhooks/stream/${provider.toUpperCase()}`,
      'POST /webhooks/stream',
    ]) {
      expect([
        request,
        (
          await call(
            service,
            request,
            request.startsWith('GET') ? {} : { body: ready(), headers: signatureOf(provider, ready()) },
          )
        ).status,
      ]).toEqual([request, 404]);
    }
  });

  test('with deep lists, 60 000 members, huge numbers or __proto__ is parsed like any other', async () => {
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const wide = `{${Array.from({ length: 60_000 }, (_, index) => `"k${index}":1`).join()}}`;
    const extras = [
      `"x":${deep}`,
      `"x":${wide}`,
      '"x":1e400',
      '"x":-1e400',
      '"x":12345678901234567890123',
      '"__proto__":{"status":"failed"}',
      '"constructor":null',
      '"x":"\\ud800"',
      '"\\u0000":"\\u0000"',
    ];
    for (const extra of extras)
      expect([extra.slice(0, 40), await send(ready().replace('{', `{${extra},`))]).toEqual([
        extra.slice(0, 40),
        TAKEN[provider],
      ]);
    for (const alone of [
      deep,
      wide,
      `${'{"__proto__":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
      `{"__proto__":${ready()}}`,
    ])
      expect(await send(alone)).toEqual(NOT_ACTIONABLE);
  });
});
