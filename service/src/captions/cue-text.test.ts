// Tests which tags of a cue are kept, and that the result is well-formed whatever the text is.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sanitizeCueText } from './cue-text.ts';

describe('kept', () => {
  test.each([
    'Hello <i>world</i>',
    '<b><u>both</u></b>',
    '<v Ann Smith>Hello</v>',
    '<v.loud.first Ann>Hello</v>',
    '<c.yellow.bg_blue>text</c>',
    '<lang en-GB>colour</lang>',
    '<ruby>漢<rt>kan</rt></ruby>',
    'first <00:00:05.000>then <01:00:05.000>last',
    'Tom &amp; Jerry &lt;3 &nbsp; &#39; &#x27;',
    'two\nlines',
  ])('%s', (text) => expect(sanitizeCueText(text)).toBe(text));
});

test.each([
  ['other tags', '<script>alert(1)</script>', 'alert(1)'],
  ['attributes', '<i onload="x">a</i>', '<i>a</i>'],
  ['an image', '<img src=x onerror=alert(1)>a', 'a'],
  ['a font of SubRip', '<font color="#ff0000">red</font>', 'red'],
  ['positions of SubRip', '{\\an8}top {\\i1}text', 'top text'],
  ['quotes in the name of a speaker', '<v A"B&C>x', '<v A"B&amp;C>x</v>'],
  ['odd classes', '<c.a.b\'c.d"e.ok>x</c>', '<c.a.ok>x</c>'],
  ['capitals', '<B>x</B>', '<b>x</b>'],
  ['open tags', '<i>a<b>b', '<i>a<b>b</b></i>'],
  ['wrong nesting', '<i>a<b>b</i>c</b>', '<i>a<b>b</b></i>c'],
  ['an end without a start', 'a</b>', 'a'],
  ['rt outside of ruby', '<rt>a</rt>', 'a'],
  ['a language that is none', '<lang "x>a</lang>', 'a'],
  ['arithmetic', '1 < 2 & 3 > 2, <3', '1 &lt; 2 &amp; 3 &gt; 2, &lt;3'],
  ['an arrow', 'a --> b', 'a --&gt; b'],
  ['a tag that never ends', '<b', '&lt;b'],
  ['an arrow at the end of a tag', '<v -->a<c.b-->c<lang en-->d<b -->', '<v>a<c>cd<b></b></c></v>'],
])('%s are made harmless', (_what, text, result) => expect(sanitizeCueText(text)).toBe(result));

const fragment = fc.constantFrom(
  ...['<', '>', '</', '<b>', '</b>', '<i.a', ' x', '<v ', '<c>', '</c>', '<ruby>', '<rt>', '&', 'amp;', '.'],
  ...['<00:01.000>', '-->', '"', "'", '<script>', '\n', '{\\an8}', 'a', '/', '<lang en>', '\u00e9', '#'],
);

test('any text becomes well-formed, and a second pass changes nothing', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fragment, fc.string()), { maxLength: 40 }), (parts) => {
      const result = sanitizeCueText(parts.join(''));
      expect(sanitizeCueText(result)).toBe(result);
      expect(result).not.toContain('-->');
      const open: string[] = [];
      const rest = result.replace(/<(\/?)([a-z]+|[\d:.]+)[^<>]*>/g, (_tag, slash: string, name: string) => {
        if (/^\d/.test(name)) return '';
        expect(['b', 'i', 'u', 'c', 'v', 'lang', 'ruby', 'rt']).toContain(name);
        if (slash) expect(open.pop()).toBe(name);
        else open.push(name);
        return '';
      });
      expect(open).toEqual([]);
      expect(rest).not.toMatch(/[<>]/);
    }),
  );
});

test('deeply nested tags are limited', () => {
  expect(sanitizeCueText('<b>'.repeat(100_000)).length).toBeLessThan(200);
});
