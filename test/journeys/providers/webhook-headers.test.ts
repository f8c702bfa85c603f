// Webhook signatures in unusual forms: repeated headers, spaces, trailers, other digits (contract A5, B6).
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectEnvelope } from '../../support/http/envelope.ts';
import { request, sendRaw } from '../../support/http/raw-socket.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import {
  READY,
  refusedWith,
  signatureOf,
  TAKEN,
  type Verdict,
  PROVIDERS,
  type KnownProvider,
} from '../../support/providers/webhooks.ts';

const WRONG = refusedWith('Invalid webhook signature');
const NAMES = {
  cdnhost: 'X-Cdnhost-Signature',
  edgehost: 'Webhook-Signature',
  onprem: 'X-Onprem-Signature',
} as const;

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api' });
});
afterAll(() => service?.stop());

async function knock(provider: KnownProvider, text: string): Promise<Verdict> {
  const answer = await sendRaw(
    service.address,
    text.replace('$door', `POST /api/v1/webhooks/stream/${provider}`),
  );
  const { message, data } = expectEnvelope(answer);
  return { status: answer.status, message, data };
}

describe.each(PROVIDERS)('the webhook of %s', (provider) => {
  const name = NAMES[provider];
  /** A fresh report, its signature and one of another body. */
  function signed() {
    const body = JSON.stringify(READY[provider](randomUUID()));
    const signatureFor = (text: string) => Object.values(signatureOf(provider, text))[0] ?? '';
    return { body, good: signatureFor(body), bad: signatureFor(`${body} `) };
  }
  const send = ({ body }: { body: string }, lines: readonly string[]) =>
    knock(provider, request('$door', [...lines, `Content-Length: ${Buffer.byteLength(body)}`], body));

  test.each([
    ['as it should be', (good: string) => `${name}: ${good}`],
    ['in lower case', (good: string) => `${name.toLowerCase()}: ${good}`],
    ['in upper case', (good: string) => `${name.toUpperCase()}: ${good}`],
    ['without a space', (good: string) => `${name}:${good}`],
    ['between spaces and tabs', (good: string) => `${name}: \t ${good} \t`],
  ])('reads a header %s', async (_, line) => {
    const report = signed();
    expect(await send(report, [line(report.good)])).toEqual(TAKEN[provider]);
  });

  test('accepts two equal header lines, except for edgehost', async () => {
    const report = signed();
    expect(await send(report, [`${name}: ${report.good}`, `${name}: ${report.good}`])).toEqual(
      provider === 'edgehost' ? WRONG : TAKEN[provider],
    );
  });

  test('rejects different header lines, an empty one, a list and a prefix', async () => {
    const report = signed();
    const { good, bad } = report;
    for (const values of [
      [good, bad],
      [bad, good],
      [good, ''],
      ['', good],
      [`${good}, ${good}`],
      [`${good},${bad}`],
      [`sha256 ${good}`],
      [`"${good}"`],
    ]) {
      expect([
        values,
        await send(
          report,
          values.map((value) => `${name}: ${value}`),
        ),
      ]).toEqual([values, WRONG]);
    }
  });

  test('rejects characters that only look like hex digits', async () => {
    const report = signed();
    const [digit = ''] = /[0-9a-f](?=[0-9a-f]*$)/.exec(report.good) ?? [];
    const fullWidth = String.fromCodePoint((digit.codePointAt(0) ?? 0) + 0xfee0);
    for (const other of [
      fullWidth,
      encodeURIComponent(fullWidth),
      `\\u00${digit.charCodeAt(0).toString(16)}`,
      `%${digit.charCodeAt(0).toString(16)}`,
      'O',
      'ä',
    ]) {
      const at = report.good.lastIndexOf(digit);
      expect([
        other,
        await send(report, [`${name}: ${report.good.slice(0, at)}${other}${report.good.slice(at + 1)}`]),
      ]).toEqual([other, WRONG]);
    }
  });

  test('reads the signature from its header only, not from the URL, cookies or trailers', async () => {
    const report = signed();
    const { body, good } = report;
    const size = `Content-Length: ${body.length}`;
    for (const line of [
      `Cookie: ${name}=${good}`,
      `Authorization: ${good}`,
      `${name.replaceAll('-', '_')}: ${good}`,
      `X-${name}: ${good}`,
    ])
      expect([line, await send(report, [line])]).toEqual([line, WRONG]);
    expect(await knock(provider, request(`$door?${name}=${encodeURIComponent(good)}`, [size], body))).toEqual(
      WRONG,
    );
    const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n${name}: ${good}\r\n\r\n`;
    expect(
      await knock(provider, request('$door', ['Transfer-Encoding: chunked', `Trailer: ${name}`], chunks)),
    ).toEqual(WRONG);
  });

  test('verifies a chunked body as a whole', async () => {
    const { body, good } = signed();
    const chunks = `${Array.from(body, (letter) => `1\r\n${letter}\r\n`).join('')}0\r\n\r\n`;
    expect(
      await knock(provider, request('$door', ['Transfer-Encoding: chunked', `${name}: ${good}`], chunks)),
    ).toEqual(TAKEN[provider]);
  });
});

describe('the webhook of cdnhost', () => {
  const sendWith = (...lines: string[]) => {
    const body = JSON.stringify(READY.cdnhost(randomUUID()));
    const [good = ''] = Object.values(signatureOf('cdnhost', body));
    return knock(
      'cdnhost',
      request(
        '$door',
        [
          `X-Cdnhost-Signature: ${good}`,
          ...lines.map((line) => line.replace('$good', good)),
          `Content-Length: ${body.length}`,
        ],
        body,
      ),
    );
  };

  test.each([
    'X-Cdnhost-Signature-Version: v1',
    'X-BunnyStream-Signature-Version: v1',
    'X-Cdnhost-Signature-Algorithm: hmac-sha256',
    'X-BunnyStream-Signature: $good',
  ])('accepts %s', async (line) => {
    expect(await sendWith(line)).toEqual(TAKEN.cdnhost);
  });

  test.each([
    'X-Cdnhost-Signature-Version: v2',
    'X-Cdnhost-Signature-Version: V1',
    'X-Cdnhost-Signature-Version:',
    'X-BunnyStream-Signature-Version: 1',
    'X-Cdnhost-Signature-Algorithm: hmac-sha1',
    'X-Cdnhost-Signature-Algorithm: HMAC-SHA256',
    'X-BunnyStream-Signature-Algorithm: none',
    'X-BunnyStream-Signature: 0',
    'X-BunnyStream-Signature:',
  ])('rejects %s, even with a valid signature', async (line) => {
    expect(await sendWith(line)).toEqual(WRONG);
    expect(
      await sendWith(
        line.replace(
          /:.*/,
          line.includes('Version') ? ': v1' : line.includes('Algorithm') ? ': hmac-sha256' : ': $good',
        ),
        line,
      ),
    ).toEqual(WRONG);
  });
});

test('onprem accepts both header names if they agree, and ignores a third', async () => {
  const body = JSON.stringify(READY.onprem(randomUUID()));
  const [good = ''] = Object.values(signatureOf('onprem', body));
  const bad = good.replace(/^./, (digit) => (digit === '0' ? '1' : '0'));
  const send = (named: object) =>
    knock(
      'onprem',
      request(
        '$door',
        [
          ...Object.entries(named).map(([name, value]) => `X-${name}: ${value}`),
          `Content-Length: ${body.length}`,
        ],
        body,
      ),
    );
  for (const named of [
    { 'Onprem-Signature': good, 'Webhook-Signature': good.toUpperCase() },
    { Signature: good },
    { 'Webhook-Signature': good, Signature: bad },
  ])
    expect([named, await send(named)]).toEqual([named, TAKEN.onprem]);
  for (const named of [
    { 'Onprem-Signature': good, 'Webhook-Signature': bad },
    { 'Onprem-Signature': bad, 'Webhook-Signature': good },
    { Signature: bad },
    { 'Onprem-Signature': bad, Signature: good },
  ]) {
    expect([named, await send(named)]).toEqual([named, WRONG]);
  }
});
