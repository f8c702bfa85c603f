// Contract tests of the APIs of hosted providers; must be called inside a `describe`.
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { HostedApi, ProviderError, UploadOrder } from './provider.ts';

/** Response of the simulated server. `body` is sent unchanged if it is text, otherwise as JSON. */
export type PeerResponse =
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown }
  | 'hang'
  | 'cut'
  | 'cut in the middle';
type PeerRequest = { readonly method: string; readonly path: string; readonly body: string };
type Peer = {
  answerWith(answer: PeerResponse): void;
  readonly requests: readonly PeerRequest[];
};

type Method =
  | 'prepareUpload'
  | 'inspect'
  | 'remove'
  | 'restart'
  | 'protect'
  | 'createDownloadUrl'
  | 'list'
  | 'registerWebhook';

/** Methods whose responses are not read: only the request shows what they did. */
type Command = Extract<Method, 'remove' | 'restart' | 'protect'>;

/**
 * The only request of a command for a video; `path` is below `base`, `body` is parsed JSON or undefined where
 * it is empty.
 */
type CommandRequest = { readonly method: string; readonly path: string; readonly body?: unknown };

type ApiSubject = {
  /** Calls the API against the simulated server. */
  readonly open: (limits: { readonly timeoutMs: number; readonly maxBytes: number }) => HostedApi;
  readonly peer: () => Peer;
  /** Successful responses of the product. Methods that it does not support are omitted. */
  readonly answers: Partial<Readonly<Record<Method, PeerResponse>>>;
  /** The request that each command sends for a video; one for every command in `answers`. */
  readonly commands: Partial<Readonly<Record<Command, (videoId: string) => CommandRequest>>>;
  /** Common prefix of all paths. */
  readonly base: string;
  /** Secrets that must not appear in errors. */
  readonly secrets: readonly string[];
};

const LIMITS = { timeoutMs: 30_000, maxBytes: 100_000 };
const SLOW = { ...LIMITS, timeoutMs: 100 };
const VIDEO = '11112222-3333-4444-8555-666677778888';
export const ORDER: UploadOrder = {
  assetId: '0198c0de-0000-7000-8000-000000000001',
  filename: 'clip.mp4',
  mimeType: 'video/mp4',
  size: 1000,
  maxBytes: 10_000,
  maxDurationSeconds: null,
  isPrivate: true,
  expires: Math.floor(Date.now() / 1000) + 3600,
  videoId: null,
};

const CALLS: Readonly<Record<Method, (api: HostedApi) => Promise<unknown>>> = {
  prepareUpload: (api) => api.prepareUpload(ORDER),
  inspect: (api) => api.inspect(VIDEO),
  remove: (api) => api.remove(VIDEO),
  restart: async (api) => api.restart?.(VIDEO),
  protect: async (api) => api.protect?.(VIDEO, true),
  createDownloadUrl: (api) =>
    api.createDownloadUrl({ videoId: VIDEO, filename: 'clip.mp4', expires: ORDER.expires }),
  list: (api) => collect(api.list()),
  registerWebhook: async (api) => api.registerWebhook?.('https://media.example/hook'),
};

const FAULTS: readonly (readonly [name: string, answer: PeerResponse, code: string])[] = [
  ['rejects the credentials', { status: 401 }, 'provider_credentials'],
  ['answers 403', { status: 403, body: { message: 'no' } }, 'provider_credentials'],
  ['rejects the request', { status: 400, body: '<html>' }, 'provider_rejected'],
  ['limits the rate', { status: 429, headers: { 'retry-after': '7' } }, 'provider_rate_limited'],
  ['answers 500', { status: 500, body: 'Internal error' }, 'provider_error'],
  ['answers 503', { status: 503, headers: { 'retry-after': '7' } }, 'provider_error'],
  ['redirects', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }, 'provider_error'],
  ['sends a body over the limit', { body: 'x'.repeat(LIMITS.maxBytes + 1) }, 'provider_error'],
  ['closes the connection', 'cut', 'provider_unreachable'],
  ['closes the connection within the body', 'cut in the middle', 'provider_unreachable'],
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
  const when = async <T>(answer: PeerResponse, call: () => Promise<T>): Promise<T> => {
    peer().answerWith(answer);
    return call();
  };

  describe.each(methods)('%s', (method) => {
    test('succeeds with a valid response', async () => {
      await expect(when(answers[method] as PeerResponse, () => CALLS[method](api()))).resolves.not.toThrow();
    });

    test.each(FAULTS)('fails when the product %s', async (_, answer, code) => {
      const failed = await failure(when(answer, () => CALLS[method](api())));
      expect(failed).toMatchObject({
        failure: { code },
        ...(code === 'provider_rate_limited' && { retryAfterSeconds: 7 }),
      });
      expect(
        secrets.filter((secret) => inspect(failed, { depth: 9, showHidden: true }).includes(secret)),
      ).toEqual([]);
    });

    test('fails when the product does not respond', async () => {
      expect(await failure(when('hang', () => CALLS[method](open(SLOW))))).toMatchObject({
        failure: { code: 'provider_timeout' },
      });
    });

    test('fails when the response is invalid', async () => {
      for (const body of GARBAGE) {
        const outcome = await when({ body }, () => CALLS[method](api())).catch(
          (error: unknown) => (error as ProviderError).failure?.code ?? error,
        );
        if (!UNPARSED.has(method))
          expect([body, outcome]).toEqual([
            body,
            method === 'createDownloadUrl' && outcome === undefined ? undefined : 'provider_error',
          ]);
      }
    });
  });

  commandRequests({ peer, api, base, when, answers, commands });
  missingVideos({ peer, api, base, when });
  credentialChecks({ open, peer, secrets, when, api });
}

const COMMANDS: readonly Command[] = ['remove', 'restart', 'protect'];
/** Methods whose responses are not parsed. */
const UNPARSED: ReadonlySet<Method> = new Set(COMMANDS);

type ContractContext = {
  readonly peer: () => Peer;
  readonly api: () => HostedApi;
  readonly when: <T>(answer: PeerResponse, call: () => Promise<T>) => Promise<T>;
};

type CommandContext = ContractContext & Pick<ApiSubject, 'base' | 'answers' | 'commands'>;

function commandRequests({ peer, api, base, when, answers, commands }: CommandContext): void {
  const supported = COMMANDS.filter((command) => command in answers);

  test.each(supported)('%s sends one request for the video', async (command) => {
    const before = peer().requests.length;
    await when(answers[command] as PeerResponse, () => CALLS[command](api()));
    const sent = peer()
      .requests.slice(before)
      .map(({ method, path, body }) => ({ method, path, body: body === '' ? undefined : JSON.parse(body) }));
    const { method, path, body } = commands[command]?.(VIDEO) ?? { method: 'missing', path: '' };
    expect(sent).toEqual([{ method, path: `${base}${path}`, body }]);
  });
}

function missingVideos({ peer, api, base, when }: ContractContext & { readonly base: string }): void {
  test('an unknown video is missing, has no download and can be removed repeatedly', async () => {
    for (const status of [404, 410]) {
      expect(await when({ status }, () => api().inspect(VIDEO))).toEqual({ state: 'missing' });
      expect(await when({ status }, () => CALLS.createDownloadUrl(api()))).toBeUndefined();
      for (let time = 0; time < 2; time++) await when({ status }, () => api().remove(VIDEO));
    }
  });

  test('an id cannot change the path', async () => {
    for (const id of ['', '.', '..', '../..', 'a/b', 'a?b', 'a#b', '%2e%2e', '\\..\\', 'ü ']) {
      const before = peer().requests.length;
      await when({ status: 404 }, () => api().remove(id));
      expect(await when({ status: 404 }, () => api().inspect(id))).toEqual({ state: 'missing' });
      const paths = peer()
        .requests.slice(before)
        .map(({ path }) => path);
      expect(paths).toEqual(
        /^\.{0,2}$/.test(id)
          ? []
          : [`${base}/${encodeURIComponent(id)}`, `${base}/${encodeURIComponent(id)}`],
      );
    }
  });
}

type CheckContext = ContractContext & Pick<ApiSubject, 'open' | 'secrets'>;

function credentialChecks({ open, when, secrets, api }: CheckContext): void {
  const checkWith = async (answer: PeerResponse, checked = api()) => {
    const findings = await when(answer, () => checked.check({ webhookUrl: undefined }));
    for (const secret of secrets) expect(JSON.stringify(findings)).not.toContain(secret);
    return findings.flatMap(({ result, detail }) => (result === 'not checked' ? [] : `${result}: ${detail}`));
  };
  const oneProblem = (text: string) => [expect.stringMatching(`^problem: .*${text}`)];
  test('a check describes why the API cannot be used, and calls nothing ok then', async () => {
    for (const [, answer] of FAULTS) expect(await checkWith(answer)).toEqual(oneProblem('\\w+ \\w+'));
    expect(await checkWith({ status: 404 })).toEqual(oneProblem('does not know'));
    expect(await checkWith('hang', open(SLOW))).toEqual(oneProblem('does not answer'));
  });
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
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
