// Small random edits of one text, fast enough for hundreds of thousands; the property test provides the seed.

const OFTEN = 'ABCabc0189-_.=+/ ,';

/**
 * Replacements, insertions and deletions of up to three characters, half of them of any kind; never the text
 * itself.
 */
export function* randomEdits(
  text: string,
  { count, seed }: { count: number; seed: number },
): Generator<string> {
  const below = xorshift(seed);
  const anyChar = () =>
    below(2) === 0 ? OFTEN.charAt(below(OFTEN.length)) : String.fromCharCode(below(0x1_0000));
  for (let made = 0; made < count; made++) {
    const at = below(text.length + 1);
    const put = Array.from({ length: below(4) }, anyChar).join('');
    const edited = text.slice(0, at) + put + text.slice(at + below(4));
    if (edited !== text) yield edited;
  }
}

function xorshift(seed: number): (limit: number) => number {
  let state = seed | 1;
  return (limit) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
}
