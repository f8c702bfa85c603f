// Reads event streams of the service the way that a client does: it parses blocks and keeps the last id.
import type { EventMessage } from '@mediary/contract/schemas/events';

export type StreamedEvent = { readonly id: string; readonly event: string; readonly data: EventMessage };

type EventReader = {
  readonly status: number;
  readonly headers: Headers;
  readonly events: StreamedEvent[];
  /** The position that a client would resume from. */
  readonly lastId: () => string | undefined;
  /** Resolves when the events satisfy the condition; rejects after 20 s, or if the stream ends before. */
  readonly until: (condition: (events: readonly StreamedEvent[]) => boolean) => Promise<void>;
  /** Resolves when the service ends the stream. */
  readonly ended: Promise<void>;
  readonly close: () => void;
};

export async function readEvents(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<EventReader> {
  const controller = new AbortController();
  const response = await fetch(url, { headers, signal: controller.signal });
  const events: StreamedEvent[] = [];
  const waiting = new Set<() => void>();
  let lastId: string | undefined;
  let isEnded = false;
  const take = (block: string) => {
    const fields = parseBlock(block);
    if (fields.id !== undefined) lastId = fields.id;
    if (fields.data === undefined) return;
    events.push({ id: lastId ?? '', event: fields.event ?? '', data: JSON.parse(fields.data) });
  };
  const ended = readBlocks(response, take, () => {
    for (const check of waiting) check();
  })
    .catch(() => {})
    .then(() => {
      isEnded = true;
      for (const check of waiting) check();
    });
  return {
    status: response.status,
    headers: response.headers,
    events,
    lastId: () => lastId,
    until: (condition) =>
      new Promise((resolve, reject) => {
        const fail = () => reject(new Error(`events until the end: ${events.map(({ event }) => event)}`));
        const timer = setTimeout(fail, 20_000);
        const check = () => {
          if (!condition(events) && !isEnded) return;
          clearTimeout(timer);
          waiting.delete(check);
          if (condition(events)) resolve();
          else fail();
        };
        waiting.add(check);
        check();
      }),
    ended,
    close: () => controller.abort(),
  };
}

async function readBlocks(
  { body }: Response,
  take: (block: string) => void,
  onChunk: () => void,
): Promise<void> {
  let text = '';
  for await (const chunk of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) take(block);
    onChunk();
  }
}

const parseBlock = (block: string): { id?: string; event?: string; data?: string } =>
  Object.fromEntries(
    block
      .split('\n')
      .filter((line) => !line.startsWith(':'))
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  );
