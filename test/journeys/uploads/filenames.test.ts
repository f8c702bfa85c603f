// A file name is returned as it was sent, or rejected with the name of the field (contract B1; security B6,
// E1).
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TEST_DATA } from '../../support/clips/clips.ts';
import { expectFieldRefused } from '../../support/http/envelope.ts';
import { IMAGE, openUpload, putBytes, readAsset, type Started } from '../../support/media.ts';
import { type Answer, asUser, call, startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

const open = (filename: string) =>
  call<Started>(service, 'POST /media/upload-url?expand=asset', {
    headers: asUser('ann'),
    json: { ...IMAGE, filename },
  });
/** JSON that says a name by escapes which no valid string has. */
const openEscaped = (escaped: string) =>
  call(service, 'POST /media/upload-url?expand=asset', {
    headers: { ...asUser('ann'), 'content-type': 'application/json' },
    body: JSON.stringify({ ...IMAGE, filename: '@' }).replace('@', escaped),
  });

async function expectKept(filename: string, answer: Answer<Started>): Promise<void> {
  expect(answer.status, JSON.stringify(filename)).toBe(200);
  expect(answer.body.data.asset['filename']).toBe(filename);
  expect((await readAsset(service, 'ann', answer.body.data.asset_id))['filename']).toBe(filename);
}

describe('a file name is stored', () => {
  test.each([
    ['255 emoji', '🎬'.repeat(255)],
    ['255 letters', 'é'.repeat(255)],
    ['composed', 'é.mp4'],
    ['decomposed', 'e\u0301.mp4'],
    ['right to left', '\u202egpj.exe'],
    ['a family in one sign', '👨‍👩‍👧‍👦.png'],
    ['quotes and backslashes', "\"; filename='x' \\ .png"],
    ['a path', '../../../etc/passwd'],
    ['a device', 'CON'],
    ['a dash', '-i /etc/passwd'],
    ['percent', '%00%0d%0a.png'],
    ['SQL', "'; drop table assets; --"],
    ['markup', '<script>alert(1)</script>'],
    ['spaces around', '  a  '],
    ['a line separator', 'a\u2028b'],
    ['a byte order mark', '\ufeffa'],
    ['the last character there is', '\u{10ffff}'],
    ['no character at all', '\uffff'],
  ])('%s', async (_what, filename) => {
    await expectKept(filename, await open(filename));
  });
});

describe('a file name is rejected', () => {
  test.each([
    ['empty', ''],
    ['blank', ' \t'],
    ['blank in Unicode', '\u3000\u00a0'],
    ['256 letters', 'x'.repeat(256)],
    ['256 emoji', '🎬'.repeat(256)],
    ['100 KB', 'x'.repeat(100_000)],
    ['a NUL', 'a\0.png'],
    ['a line break', 'a\r\nSet-Cookie: b'],
    ['a tab', 'a\tb'],
    ['an escape', '\x1b[31m'],
    ['DEL', 'a\x7f'],
    ['a C1 control', 'a\u0085'],
  ])('%s', async (_what, filename) => {
    expectFieldRefused(await open(filename), 'filename');
  });

  test.each(['\\ud800', 'a\\udc00', '\\udc00\\ud800', '\\ud83d\\u0041'])(
    'half a character (%s)',
    async (escaped) => {
      expectFieldRefused(await openEscaped(escaped), 'filename');
    },
  );
});

describe('a download has the file name', () => {
  const dispositionOf = async (filename: string) => {
    const started = await openUpload(service, 'ann', { ...IMAGE, filename });
    await putBytes(started, Buffer.from('bytes'));
    const { body } = await call<{ url: string; filename: string }>(
      service,
      `GET /media/${started.asset_id}/download-url`,
      { headers: asUser('ann') },
    );
    expect(body.data.filename).toBe(filename);
    const answer = await fetch(body.data.url);
    expect(await answer.text()).toBe('bytes');
    expect(answer.headers.has('set-cookie')).toBe(false);
    return answer.headers.get('content-disposition') ?? '';
  };

  test.each([
    ['plain', 'a.png', 'attachment; filename="a.png"; filename*=UTF-8\'\'a.png'],
    ['accents', 'Zoë.png', 'attachment; filename="Zoe.png"; filename*=UTF-8\'\'Zo%C3%AB.png'],
    ['quotes', 'a"b\\c.png', 'attachment; filename="a_b_c.png"; filename*=UTF-8\'\'a%22b%5Cc.png'],
  ])('%s', async (_what, filename, disposition) => {
    expect(await dispositionOf(filename)).toBe(disposition);
  });

  test.each(['🎬.png', '../../x', '\u202egpj.exe', 'a; filename=b', '日本語.png'])(
    '%s, without leaving its quotes',
    async (filename) => {
      const disposition = await dispositionOf(filename);
      expect(disposition).toMatch(
        /^attachment; filename="[\x20-\x21\x23-\x5b\x5d-\x7e]*"; filename\*=UTF-8''[\w!#$&+.^`|~%-]+$/,
      );
      expect(decodeURIComponent(disposition.slice(disposition.indexOf("''") + 2))).toBe(filename);
    },
  );
});

describe.skipIf(!TEST_DATA)('collected naughty strings', () => {
  test('each is returned unchanged or rejected as a filename', async () => {
    const strings = JSON.parse(
      await readFile(join(TEST_DATA as string, 'naughty-strings/blns.json'), 'utf8'),
    ) as string[];
    expect(strings.length).toBeGreaterThan(400);
    let kept = 0;
    for (const filename of strings) {
      const answer = await open(filename);
      if (answer.status === 200) kept += 1;
      if (answer.status === 200) await expectKept(filename, answer);
      else expectFieldRefused(answer, 'filename');
    }
    expect(kept).toBeGreaterThan(400);
  });
});
