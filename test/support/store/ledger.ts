// Clients that write continuously while the service is killed, and their record of acknowledged and unknown
// results.
import { randomBytes } from 'node:crypto';
import sharp from 'sharp';
import { IMAGE, putBytes, type Started, VIDEO } from '../media.ts';
import { type Answer, asService, asUser, call, eventually } from '../service.ts';
import { LIBRARY, signatureOf } from '../providers/webhooks.ts';

/** `unknown`: it was asked for, and the connection was cut before the answer. */
type Known = 'no' | 'unknown' | 'yes';

/**
 * What one client knows of one asset. `bytes` are undefined for a video that is at its provider; `reached` is
 * the furthest state that was acknowledged.
 */
export type Entry = {
  readonly key: string;
  readonly owner: string;
  readonly bytes: Buffer | undefined;
  id: string | undefined;
  stored: Known;
  reached: 'pending_upload' | 'processing' | 'ready';
  deleted: Known;
};

export type Ledger = {
  readonly entries: readonly Entry[];
  /** Answers that no cut explains. */
  readonly surprises: readonly string[];
  /** Cut connections, and answers with a status from 500 on. */
  readonly interruptions: readonly string[];
  /** Resolves when so many more writes have been acknowledged; answers how many there are in all. */
  acknowledges(more: number): Promise<number>;
  /** The clients end what they are at, and begin nothing new. */
  close(): Promise<void>;
};

type Api = { readonly url: string };
type Book = {
  readonly api: Api;
  readonly entries: Entry[];
  readonly surprises: string[];
  readonly interruptions: string[];
  readonly hasRepeatingProxy: boolean;
  acknowledged: number;
  isClosed: boolean;
};

type LedgerOptions = {
  /** Tells the owners, keys and videos of several ledgers apart. */
  readonly name?: string;
  /** A proxy repeats a DELETE without an answer: the client sees the answer to the second one. */
  readonly hasRepeatingProxy?: boolean;
};

export function openLedger(
  api: Api,
  clients: number,
  { name = 'client', hasRepeatingProxy = false }: LedgerOptions = {},
): Ledger {
  const book: Book = {
    api,
    entries: [],
    surprises: [],
    interruptions: [],
    hasRepeatingProxy,
    acknowledged: 0,
    isClosed: false,
  };
  const all = Promise.all(Array.from({ length: clients }, (_, number) => client(book, `${name}-${number}`)));
  return {
    entries: book.entries,
    surprises: book.surprises,
    interruptions: book.interruptions,
    acknowledges: (more) => {
      const enough = book.acknowledged + more;
      return eventually(
        async () => book.acknowledged,
        (count) => count >= enough,
      );
    },
    close: async () => {
      book.isClosed = true;
      await all;
    },
  };
}

async function client(book: Book, name: string): Promise<void> {
  for (let lap = 0; !book.isClosed; lap++) {
    const isImage = lap % 3 === 0;
    const entry: Entry = {
      key: `${name}-${lap}`,
      owner: name,
      bytes: isImage ? await picture(lap % 2 === 0 ? 200 : 16) : undefined,
      id: undefined,
      stored: 'no',
      reached: 'pending_upload',
      deleted: 'no',
    };
    book.entries.push(entry);
    if (isImage) await tellOfImage(book, entry);
    else await tellOfVideo(book, entry);
    if (lap % 4 === 3) await remove(book, entry);
  }
}

/** No two are alike. */
const picture = (width: number): Promise<Buffer> =>
  sharp(randomBytes(width * width * 3), { raw: { width, height: width, channels: 3 } })
    .png()
    .toBuffer();

async function tellOfImage(book: Book, entry: Entry): Promise<void> {
  const started = await open(book, entry, { headers: asUser(entry.owner), json: IMAGE });
  if (!started) return;
  entry.stored = 'unknown';
  // A 409 means that an earlier, unacknowledged request wrote them.
  const stored = await repeated(book, () => putBytes(started, entry.bytes as Buffer), 'already_uploaded');
  if (!stored) return;
  entry.stored = 'yes';
  const completed = await repeated(book, () =>
    call(book.api, `POST /media/${entry.id}/complete`, { headers: asUser(entry.owner) }),
  );
  if (completed) entry.reached = 'processing';
}

async function tellOfVideo(book: Book, entry: Entry): Promise<void> {
  const video = `video-${entry.key}`;
  const link = { provider: 'cdnhost', provider_video_id: video, owner_user_id: entry.owner };
  if (!(await open(book, entry, { headers: asService, json: { ...VIDEO, ...link } }))) return;
  for (const [status, state] of [
    [7, 'processing'],
    [3, 'ready'],
  ] as const) {
    const body = JSON.stringify({ VideoLibraryId: LIBRARY, VideoGuid: video, Status: status });
    const answer = await repeated(book, () =>
      call(book.api, 'POST /webhooks/stream/cdnhost', { headers: signatureOf('cdnhost', body), body }),
    );
    if (answer?.body.data['processed'] === false) book.surprises.push(`${video}: ${answer.body.message}`);
    if (answer) entry.reached = state;
  }
}

/** With an Idempotency-Key: a repeat finds the asset of a request whose response was lost. */
async function open(
  book: Book,
  entry: Entry,
  { headers, json }: { headers: Record<string, string>; json: object },
): Promise<Started | undefined> {
  const answer = await repeated(book, () =>
    call<Started>(book.api, 'POST /media/upload-url?expand=asset', {
      headers: { ...headers, 'idempotency-key': entry.key },
      json,
    }),
  );
  entry.id = answer?.body.data.asset_id;
  return answer?.body.data;
}

async function remove(book: Book, entry: Entry): Promise<void> {
  if (!entry.id) return;
  entry.deleted = 'unknown';
  const answer = await repeated(
    book,
    () => call(book.api, `DELETE /media/${entry.id}`, { headers: asUser(entry.owner) }),
    'NOT_FOUND',
  );
  if (answer) entry.deleted = 'yes';
}

const PATIENCE = 2;

/**
 * Asks again after a cut; `done` is the refusal that says that an earlier try, whose answer was lost,
 * was heeded.
 */
async function repeated<T>(
  book: Book,
  ask: () => Promise<Answer<T>>,
  done?: string,
): Promise<Answer<T> | undefined> {
  for (let asked = 0; asked < PATIENCE; asked++) {
    // Cut off: whether it was heeded, nobody knows.
    const answer = await ask().catch((error: Error) => {
      book.interruptions.push(`${error.message}: ${String(error.cause)}`);
      return undefined;
    });
    if (answer && answer.status >= 500) book.interruptions.push(JSON.stringify(answer.body));
    const mayBeRepeated = asked > 0 || book.hasRepeatingProxy;
    const isDone =
      answer?.status === 200 || (mayBeRepeated && done !== undefined && reasonOf(answer) === done);
    if (isDone) book.acknowledged += 1;
    if (answer && isDone) return answer;
    if (answer && !isPassing(answer)) book.surprises.push(JSON.stringify(answer.body));
    await eventually(
      () =>
        fetch(`${book.api.url}/../../healthz`).then(
          ({ ok }) => ok,
          () => false,
        ),
      Boolean,
    );
  }
  return undefined;
}

const reasonOf = (answer: Answer<unknown> | undefined) =>
  answer?.body.error?.details?.['reason'] ?? answer?.body.error?.error_code;

/** The database is away, or the dead process's right to write has not yet run out. */
const isPassing = (answer: Answer<unknown>) =>
  answer.status === 503 || ['request_in_progress', 'upload_in_progress'].includes(String(reasonOf(answer)));
