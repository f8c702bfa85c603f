// File names that try to break out of a header: a download has its usual headers and the complete name
// (contract B1, B5).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { IMAGE } from '../../support/media.ts';
import { type RawAnswer, request, sendRaw } from '../../support/http/raw-socket.ts';
import { asUser, startTestService, type TestService } from '../../support/service.ts';
import { TEST_DATA } from '../../support/clips/test-data.ts';

const CONNECTIONS = 8;

/** Characters that become line breaks where only their low byte is kept, and other ways to say CR LF. */
const LINE_BREAKS = [
  '嘊嘍',
  '\u010d\u010a',
  '\u560d\u560a',
  '\u0a0d\u0d0a',
  '\uff0d\uff0a',
  '\u2028',
  '\u2029',
  '%0d%0a',
  '%0D%0A%20',
  '%250d%250a',
  '%u000d%u000a',
  '\\r\\n',
  '\\u000d\\u000a',
  '\\x0d\\x0a',
  '&#13;&#10;',
  '%E5%98%8A%E5%98%8D',
  '=0D=0A',
  '^M^J',
  '\u240d\u240a',
  '\u23ce',
  '\ufeff',
  '\u200b',
];
const HEADERS = [
  'Set-Cookie: stolen=1',
  'Location: http://evil.example/',
  'Content-Type: text/html',
  '\u{1f4a5}<script>alert(1)</script>',
];
const PARAMETERS = [
  'a"; filename="evil.html',
  'a\\"; filename=\\"evil.html',
  'a"\\',
  '\\',
  '"',
  '""',
  'a\\',
  "'",
  'a;b',
  "a; filename*=UTF-8''evil.html",
  "UTF-8''a",
  "a'b'c",
  'a, attachment; filename=b',
  'a=b',
  '=?utf-8?B?ZXZpbA==?=',
  '=?utf-8?Q?=0D=0A?=',
  'inline',
  '%',
  '%%',
  '%zz',
  '%41',
  '%22',
  '*',
  'a*',
  '+',
  'a+b c',
  '  a  ',
  '.',
  '..',
  '.htaccess',
  '/',
  '../../etc/passwd',
  '..\\..\\boot.ini',
  'C:\\a',
  'CON',
  '-rf',
  '$(id)',
  '`id`',
  '{{7*7}}',
  '<a href="x">',
  '\u202egnp.exe',
  'e\u0301',
  'é',
  'ÿ',
  '\u00a0a',
  '\u00ad',
  '€'.repeat(255),
  '🎬'.repeat(255),
  '👨‍👩‍👧‍👦',
  '\u0301',
  '\u{10ffff}',
  '\uffff',
  '\ufffe',
  '\ufffd',
  '日本語.png',
  'שלום',
  'ﷺ',
  'a'.repeat(255),
  '"'.repeat(255),
  '%'.repeat(255),
  'null',
  'undefined',
  '__proto__',
];
const KEPT = [
  ...PARAMETERS,
  ...LINE_BREAKS.flatMap((lineBreak, index) => [
    `${lineBreak}a`,
    `a${lineBreak}${HEADERS[index % HEADERS.length]}`,
  ]),
];
const REFUSED = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  '\t',
  '\v',
  '\f',
  '\x1b',
  '\x7f',
  '\u0085',
  '\u0080',
  '\u009f',
].flatMap((control) => [`a${control}Set-Cookie: stolen=1`, `${control}${control}\u{1f4a5}`]);

let service: TestService;
let usualHeaders: readonly string[];
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api' });
  usualHeaders = headerNames((await downloadOf('a.png')).answer);
});
afterAll(() => service?.stop());

const ann = `Authorization: ${asUser('ann').authorization}`;
const linesOf = ({ all }: RawAnswer) => all.slice(0, all.indexOf('\r\n\r\n')).split('\r\n').slice(1);
const headerNames = (answer: RawAnswer) =>
  linesOf(answer)
    .map((line) => line.slice(0, line.indexOf(':')).toLowerCase())
    .sort();
const send = (line: string, headers: readonly string[] = [], body = '') =>
  sendRaw(service.address, request(line, headers, body));

/** The JSON goes as bytes: half of the socket's text is latin1. */
function open(filename: string): Promise<RawAnswer> {
  const body = Buffer.from(JSON.stringify({ ...IMAGE, filename }));
  const head = request('POST /api/v1/media/upload-url?expand=asset', [
    ann,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ]);
  return sendRaw(service.address, Buffer.concat([Buffer.from(head), body]));
}

const pathOf = (url: unknown) => String(url).slice(service.address.length);

/** The whole way of a name: told, read again, announced for download, and downloaded. */
async function downloadOf(filename: string): Promise<{ answer: RawAnswer; names: unknown[] }> {
  const { asset, upload_url: url } = expectSuccess(await open(filename)) as {
    asset: { id: string; filename: string };
    upload_url: string;
  };
  expectSuccess(await send(`PUT ${pathOf(url)}`, ['Content-Type: image/png', 'Content-Length: 5'], 'bytes'));
  const read = expectSuccess(await send(`GET /api/v1/media/${asset.id}`, [ann]));
  const download = expectSuccess(await send(`GET /api/v1/media/${asset.id}/download-url`, [ann]));
  return {
    answer: await send(`GET ${pathOf(download['url'])}`),
    names: [asset.filename, read['filename'], download['filename']],
  };
}

async function expectCarried(filename: string): Promise<void> {
  const { answer, names } = await downloadOf(filename);
  expect(names.map((name) => Buffer.from(String(name)))).toEqual(
    [filename, filename, filename].map((name) => Buffer.from(name)),
  );
  expect([answer.status, answer.body], filename).toEqual([200, 'bytes']);
  expect(headerNames(answer), filename).toEqual(usualHeaders);
  const disposition = answer.headers.get('content-disposition') ?? '';
  expect(disposition).toMatch(
    /^attachment; filename="[\x20\x21\x23-\x5b\x5d-\x7e]*"; filename\*=UTF-8''[A-Za-z0-9!#$&+.^_`|~%-]+$/,
  );
  expect(decodeURIComponent(disposition.slice(disposition.lastIndexOf("''") + 2))).toBe(filename);
}

async function inParallel(names: readonly string[], work: (name: string) => Promise<void>): Promise<void> {
  const waiting = names.values();
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      for (const name of waiting) await work(name);
    }),
  );
}

test(`${KEPT.length} names without control characters are sent unchanged and inject no header`, async () => {
  await inParallel(KEPT, expectCarried);
});

test.each(REFUSED)('%j is rejected and not repeated in the response', async (filename) => {
  const answer = await open(filename);
  expect(expectRefusal(answer, 400).details).toMatchObject({ field: 'filename' });
  expect(answer.all).not.toMatch(/stolen|\u{1f4a5}/u);
  expect(headerNames(answer)).not.toContain('set-cookie');
});

test('a raw line break inside a JSON string is rejected', async () => {
  const body = `{"filename":"a\r\nSet-Cookie: stolen=1","content_type":"image","mime_type":"image/png"}`;
  const answer = await send(
    'POST /api/v1/media/upload-url',
    [ann, 'Content-Type: application/json', `Content-Length: ${body.length}`],
    body,
  );
  expect(expectRefusal(answer, 400).details).toMatchObject({ field: 'body' });
  expect(answer.all).not.toContain('stolen');
});

describe.skipIf(!TEST_DATA)('collected naughty strings', () => {
  test('are sent unchanged or rejected', async () => {
    const strings = JSON.parse(
      readFileSync(join(TEST_DATA as string, 'naughty-strings/blns.json'), 'utf8'),
    ) as string[];
    const isName = (text: string) => text.trim() !== '' && !/\p{Cc}/u.test(text) && [...text].length <= 255;
    expect(strings.filter(isName).length).toBeGreaterThan(400);
    await inParallel(strings, async (text) => {
      if (isName(text)) await expectCarried(text);
      else expectRefusal(await open(text), 400);
    });
  });
});
