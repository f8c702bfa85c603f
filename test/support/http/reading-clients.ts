// Clients that read continuously, and a record of all that did not go well.
import { setTimeout as delay } from 'node:timers/promises';

type Readers = { readonly count: () => number; close(): Promise<readonly string[]> };

/** A pause keeps the load steady instead of as high as the machine allows. */
const PAUSE_MS = 20;

/** Each client requests the URLs in turn; close() returns cut connections and every status but 200. */
export function startReaders(
  urls: readonly string[],
  { clients, headers }: { readonly clients: number; readonly headers: Record<string, string> },
): Readers {
  const interruptions: string[] = [];
  let isClosed = false;
  let count = 0;
  const read = async (url: string) => {
    try {
      const response = await fetch(url, { headers });
      const text = await response.text();
      if (response.status !== 200) interruptions.push(`${response.status} ${url}: ${text.slice(0, 300)}`);
    } catch (error) {
      interruptions.push(`${url}: ${error} (${error instanceof Error && error.cause})`);
    }
    count += 1;
  };
  const client = async () => {
    while (!isClosed)
      for (const url of urls) {
        await read(url);
        await delay(PAUSE_MS);
      }
  };
  const all = Promise.all(Array.from({ length: clients }, client));
  return {
    count: () => count,
    close: async () => {
      isClosed = true;
      await all;
      return interruptions;
    },
  };
}
