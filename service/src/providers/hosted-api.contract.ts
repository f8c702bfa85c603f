// Contract tests of the APIs of hosted providers; must be called inside a `describe`.
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { HostedApi, ProviderFailed, UploadOrder } from './provider.ts';

/** Response of the simulated server. `body` is sent unchanged if it is text, otherwise as JSON. */
export type PeerAnswer =
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown }
  | 'hang'
  | 'cut'
  | 'cut in the middle';
type PeerRequest = { readonly method: string; readonly path: string; readonly body: string };
type Peer = {
  answerWith(answer: PeerAnswer): void;
  readonly requests: readonly PeerRequest[];
};

type Method =
  | 'prepareUpload'
  | 'inspect'
  | 'remove'
  | 'restart'
  | 'protect'
  | 'download'
  | 'list'
  | 'registerWebhook';

/** Methods whose responses are not read: only the request shows what they did. */
type Command = Extract<Method, 'remove' | 'restart' | 'protect'>;

/** The only request of a command for a video; `path` is below `base`, `body` is parsed JSON or undefined where it is empty. */
type CommandRequest = { readonly method: string; readonly path: string; readonly body?: unknown };

type ApiSubject = {
  /** Calls the API against the simulated server. */
  readonly open: (limits: { readonly timeoutMs: number; readonly maxBytes: number }) => HostedApi;
  readonly peer: () => Peer;
  /** Successful responses of the product. Methods that it does not support are omitted. */
  readonly answers: Partial<Readonly<Record<Method, PeerAnswer>>>;
  /** The request that each command sends for a video; one for every command in `answers`. */
  readonly commands: Partial<Readonly<Record<Command, (videoId: string) => CommandRequest>>>;
  /** Common prefix of all paths. */
  readonly base: string;
  /** Secrets that must not appear in errors. */
  readonly secrets: readonly string[];
};

const LIMITS = { timeoutMs: 30_000, maxBytes: 100_000 };
const VIDEO = '11112222-3333-4444-8555-666677778888';
export const WISH: UploadOrder = {
  assetId: '0198c0de-0000-7000-8000-000000000001',
  filename: 'clip.mp4',
  mimeType: 'video/mp4',
  size: 1000,
  maxBytes: 10_000,
  isPrivate: true,
  expires: Math.floor(Date.now() / 1000) + 3600,
  videoId: null,
};

const CALLS: Readonly<Record<Method, (api: HostedApi) => Promise<unknown>>> = {
  prepareUpload: (api) => api.prepareUpload(WISH),
  inspect: (api) => api.inspect(VIDEO),
  remove: (api) => api.remove(VIDEO),
  restart: async (api) => api.restart?.(VIDEO),
  protect: async (api) => api.protect?.(VIDEO, true),
  download: (api) => api.download({ videoId: VIDEO, filename: 'clip.mp4', expires: WISH.expires }),
  list: (api) => collected(api.list()),
  registerWebhook: async (api) => api.registerWebhook?.('https://media.example/hook'),
};

const FAULTS: readonly (readonly [name: string, answer: PeerAnswer, code: string])[] = [
  ['refuses the credentials', { status: 401 }, 'provider_credentials'],
  ['forbids it', { status: 403, body: { message: 'no' } }, 'provider_credentials'],
  ['does not like the request', { status: 400, body: '<html>' }, 'provider_rejected'],
  ['has too many requests', { status: 429, headers: { 'retry-after': '7' } }, 'provider_rate_limited'],
  ['has trouble', { status: 500, body: 'Internal error' }, 'provider_error'],
  ['is away', { status: 503, headers: { 'retry-after': '7' } }, 'provider_error'],
  ['sends elsewhere', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }, 'provider_error'],
  ['says too much', { body: 'x'.repeat(LIMITS.maxBytes + 1) }, 'provider_error'],
  ['hangs up', 'cut', 'provider_unreachable'],
  ['hangs up in the middle', 'cut in the middle', 'provider_unreachable'],
];

/** Responses with status 200 that are not valid. */
const GARBAGE: readonly unknown[] = [
  '',
  '<html>maintenance</html>',
  '{',
  'null',
  '7',
  '"text"',
  '[]',
  '[null]',
  '{}',
  { result: null },
  { result: 7 },
  { result: {} },
  { items: null },
  { items: [null], totalItems: 'x' },
  { items: [{}] },
  { result: [{}] },
  { result: [null] },
  { result: { status: 'ready', uid: 7, default: [] } },
  { status: 'x', guid: 7 },
  { status: null, guid: null },
  { result: { status: { state: [] }, default: { status: 'ready', url: 7 } } },
  `${'['.repeat(9_000)}${']'.repeat(9_000)}`,
  '{"guid":"","status":1e400}',
  { guid: '\0', status: 1.5 },
  { result: { uid: ['a'] } },
];

export function hostedApiContract({ open, peer, answers, commands, base, secrets }: ApiSubject): void {
  const api = () => open(LIMITS);
  const methods = Object.keys(answers) as Method[];
  const when = async <T>(answer: PeerAnswer, ask: () => Promise<T>): Promise<T> => {
    peer().answerWith(answer);
    return ask();
  };

  describe.each(methods)('%s', (method) => {
    test('works when all is well', async () => {
      await expect(when(answers[method] as PeerAnswer, () => CALLS[method](api()))).resolves.not.toThrow();
    });

    test.each(FAULTS)('where the product %s', async (_, answer, code) => {
      const failed = await failure(when(answer, () => CALLS[method](api())));
      expect(failed).toMatchObject({
        failure: { code },
        ...(code === 'provider_rate_limited' && { retryAfterSeconds: 7 }),
      });
      expect(
        secrets.filter((secret) => inspect(failed, { depth: 9, showHidden: true }).includes(secret)),
      ).toEqual([]);
    });

    test('when the product does not respond', async () => {
      expect(
        await failure(when('hang', () => CALLS[method](open({ ...LIMITS, timeoutMs: 100 })))),
      ).toMatchObject({ failure: { code: 'provider_timeout' } });
    });

    test('when the response is not readable', async () => {
      for (const body of GARBAGE) {
        const outcome = await when({ body }, () => CALLS[method](api())).catch(
          (error: unknown) => (error as ProviderFailed).failure?.code ?? error,
        );
        if (!QUIET.has(method))
          expect([body, outcome]).toEqual([
            body,
            method === 'download' && outcome === undefined ? undefined : 'provider_error',
          ]);
      }
    });
  });

  commandRequests({ peer, api, base, when, answers, commands });
  absence({ peer, api, base, when });
  trial({ open, peer, answers, when, api });
}

const COMMANDS: readonly Command[] = ['remove', 'restart', 'protect'];
/** Methods whose responses are not parsed. */
const QUIET: ReadonlySet<Method> = new Set(COMMANDS);

type Asking = {
  readonly peer: () => Peer;
  readonly api: () => HostedApi;
  readonly when: <T>(answer: PeerAnswer, ask: () => Promise<T>) => Promise<T>;
};

function commandRequests({
  peer,
  api,
  base,
  when,
  answers,
  commands,
}: Asking & Pick<ApiSubject, 'base' | 'answers' | 'commands'>): void {
  const supported = COMMANDS.filter((command) => command in answers);

  test.each(supported)('%s sends exactly its request for the video', async (command) => {
    const before = peer().requests.length;
    await when(answers[command] as PeerAnswer, () => CALLS[command](api()));
    const sent = peer()
      .requests.slice(before)
      .map(({ method, path, body }) => ({ method, path, body: body === '' ? undefined : JSON.parse(body) }));
    const { method, path, body } = commands[command]?.(VIDEO) ?? { method: 'missing', path: '' };
    expect(sent).toEqual([{ method, path: `${base}${path}`, body }]);
  });
}

function absence({ peer, api, base, when }: Asking & { readonly base: string }): void {
  test('a video that is not there is missing, has no file, and can be removed any number of times', async () => {
    for (const status of [404, 410]) {
      expect(await when({ status }, () => api().inspect(VIDEO))).toEqual({ state: 'missing' });
      expect(await when({ status }, () => CALLS.download(api()))).toBeUndefined();
      for (let time = 0; time < 2; time++) await when({ status }, () => api().remove(VIDEO));
    }
  });

  test('an id leads nowhere but to its own video', async () => {
    for (const id of ['', '.', '..', '../..', 'a/b', 'a?b', 'a#b', '%2e%2e', '\\..\\', 'ü ']) {
      const before = peer().requests.length;
      await when({ status: 404 }, () => api().remove(id));
      expect(await when({ status: 404 }, () => api().inspect(id))).toEqual({ state: 'missing' });
      const asked = peer()
        .requests.slice(before)
        .map(({ path }) => path);
      expect(asked).toEqual(
        /^\.{0,2}$/.test(id)
          ? []
          : [`${base}/${encodeURIComponent(id)}`, `${base}/${encodeURIComponent(id)}`],
      );
    }
  });
}

function trial({ open, when, answers, api }: Asking & Pick<ApiSubject, 'open' | 'answers'>): void {
  test('a credential check describes the problem, or returns nothing', async () => {
    expect(await when(answers.list ?? {}, () => api().check())).toEqual([]);
    for (const [, answer] of FAULTS)
      expect(await when(answer, () => api().check())).toEqual([expect.stringMatching(/\w+ \w+/)]);
    expect(await when({ status: 404 }, () => api().check())).toEqual([
      expect.stringContaining('does not know'),
    ]);
    expect(await when('hang', () => open({ ...LIMITS, timeoutMs: 100 }).check())).toEqual([
      expect.stringContaining('does not answer'),
    ]);
  });
}

export async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** Returns the error of a call; fails when the call succeeds. */
const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (value) => {
      throw new Error(`succeeded: ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
