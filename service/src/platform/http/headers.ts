// Reads all lines of a repeated header; Node keeps only one or joins them.
import type { IncomingMessage } from 'node:http';

/** All values of a header, in order; `name` in lower case. */
export function headerValues({ rawHeaders }: IncomingMessage, name: string): readonly string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const key = rawHeaders[index] as string;
    if (key.length === name.length && key.toLowerCase() === name)
      values.push(rawHeaders[index + 1] as string);
  }
  return values;
}
