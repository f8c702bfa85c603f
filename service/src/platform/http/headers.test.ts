// Tests reading of repeated headers and ETags, and that any file name gives a valid Content-Disposition header (RFC 6266).
import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { attachment, headerValues, inline, matchesEtag } from './headers.ts';

const FORM = /^attachment; filename="([^"\\\r\n]*)"; filename\*=UTF-8''([A-Za-z0-9!#$&+.^_`|~%-]*)$/;

test.each([
  ['plain.png', 'plain.png', 'plain.png'],
  ['two words.png', 'two words.png', 'two%20words.png'],
  ['Zoë.png', 'Zoe.png', 'Zo%C3%AB.png'],
  ['ﬁle ½.png', 'file 1_2.png', '%EF%AC%81le%20%C2%BD.png'],
  ['日本.png', '__.png', '%E6%97%A5%E6%9C%AC.png'],
  ['a"b\\c/d%e.png', 'a_b_c_d_e.png', 'a%22b%5Cc%2Fd%25e.png'],
  ["it's (1)*.png", "it's (1)*.png", 'it%27s%20%281%29%2A.png'],
  ['a\r\nSet-Cookie: b', 'a__Set-Cookie: b', 'a%0D%0ASet-Cookie%3A%20b'],
])('%j', (filename, plain, encoded) => {
  expect(FORM.exec(attachment(filename))?.slice(1)).toEqual([plain, encoded]);
});

test('attachment and inline use the same name', () => {
  expect(inline('Zoë.png')).toBe(attachment('Zoë.png').replace('attachment', 'inline'));
});

test('any name gives a valid header, and any well-formed name can be decoded from it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (filename) => {
      const [, plain = '', encoded = ''] = FORM.exec(attachment(filename)) ?? [];
      expect(plain).toMatch(/^[\x20-\x7e]*$/);
      expect(decodeURIComponent(encoded)).toBe(filename.toWellFormed());
    }),
  );
});

test('all lines of a header are read, in order and whatever the case of their name', () => {
  const rawHeaders = ['X-Key', 'one', 'X-Keys', 'other', 'Y-Key', 'x-key', 'x-KEY', 'two'];
  const request = { rawHeaders } as IncomingMessage;
  expect(headerValues(request, 'x-key')).toEqual(['one', 'two']);
  expect(headerValues(request, 'one')).toEqual([]);
});

test.each(['"a"', 'W/"a"', '"b", "a"', '"b" , W/"a"', '*', ' * '])(
  'If-None-Match: %s matches "a"',
  (header) => {
    expect(matchesEtag(header, '"a"')).toBe(true);
  },
);

test.each([undefined, '', '"b"', 'a', '"b", "c"', '"W/a"', '"a'])('If-None-Match: %s does not', (header) => {
  expect(matchesEtag(header, '"a"')).toBe(false);
});
