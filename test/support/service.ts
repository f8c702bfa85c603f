// A whole service in the test's process: real database, real disk, real encoder, a port of its own, a folder
// that goes with it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeNginx } from '../../deploy/cluster/nginx.ts';
import { supervise } from '../../deploy/cluster/supervised-process.ts';
import { signAccessToken } from '../../service/src/auth/tokens/access-token.ts';
import { toSecret } from '../../service/src/auth/secret.ts';
import { readConfig } from '../../service/src/config.ts';
import type { RegisteredProvider } from '../../service/src/providers/provider-module.ts';
import type { HttpServer } from '../../service/src/platform/http/server.ts';
import { PROVIDER_MODULES } from '../../service/src/providers/registry.ts';
import { type TestOverrides, type RunningService, startService } from '../../service/src/service.ts';
import { checkResponse, registerServer } from './http/api-document.ts';
import { ffmpegPath } from './clips/clips.ts';
import { freePort } from './http/free-port.ts';
import { inspect } from './clips/inspect.ts';
import { openPlace } from './service/service-place.ts';
import { callBySdk, IS_BY_SDK } from './uploads/sdk-calls.ts';
import type { Environment } from '../../service/src/platform/settings/read-settings.ts';
import { storageOf } from './store/test-store.ts';

/**
 * Long enough not to be warned about; planted in full, so that a test can look for them where they must not
 * be.
 */
export const SECRETS = {
  ACCESS_TOKEN_SECRET: 'test-access-token-secret-0123456789abcdef',
  SERVICE_API_KEY: 'test-service-key-0123456789abcdef-service',
  OPERATOR_KEY: 'test-operator-key-0123456789abcdef-operator',
  ONPREM_WEBHOOK_SECRET: 'test-onprem-secret-0123456789abcdef-onprem',
  CDNHOST_STREAM_READ_ONLY_API_KEY: 'test-cdnhost-key-0123456789abcdef-cdnhost',
  EDGEHOST_STREAM_WEBHOOK_SECRET: 'test-edgehost-secret-0123456789abcdef-edge',
} as const;

export type TestService = RunningService & { readonly url: string; readonly dataDir: string };

type ServiceOptions = {
  readonly addedProviders?: readonly RegisteredProvider[];
  /** False for tests of uploads and downloads by the service itself, which an S3 store would take over. */
  readonly isStoreDirect?: boolean;
  /** Behind nginx only: it asks the service once a second for each segment. */
  readonly hasPopularSegments?: boolean;
  /** With the embedded server of an own data folder, as after `npm start`, for tests that look into it. */
  readonly ownsServer?: boolean;
};

/** Settings of every service that tests start. */
export const TEST_SETTINGS = {
  ...SECRETS,
  PORT: '0',
  LOG_LEVEL: 'warn',
  // Most journeys need only the renditions, and see at once what a deletion removes.
  VIDEO_EXTRAS: 'none',
  PURGE_GRACE_DAYS: '0',
};

/** Settings of `environment` go over the defaults; undefined unsets one. */
export async function startTestService(
  environment: Environment = {},
  {
    addedProviders = [],
    isStoreDirect = true,
    hasPopularSegments = false,
    ownsServer = false,
    ...extras
  }: TestOverrides & ServiceOptions = {},
): Promise<TestService> {
  const place = await openPlace(environment, ownsServer);
  const { dataDir } = place;
  const proxyPort =
    IS_BEHIND_NGINX && environment['MEDIARY_ROLE'] !== 'worker' ? await freePort() : undefined;
  const proxy = proxyPort === undefined ? {} : { PUBLIC_BASE_URL: `http://127.0.0.1:${proxyPort}` };
  const config = readConfig(
    {
      ...TEST_SETTINGS,
      ...proxy,
      ...place.settings,
      FFMPEG_PATH: ffmpegPath(),
      ...storageOf(dataDir, { isDirect: isStoreDirect }),
      ...environment,
    },
    (path) => path,
    [...PROVIDER_MODULES, ...addedProviders],
  );
  const service = await startService(
    config,
    { searchPath: process.env['PATH'] },
    { inspect, checkEveryMs: CHECK_EVERY_MS, ...extras },
  );
  const nginx = proxyPort && (await startNginx(service, { port: proxyPort, hasPopularSegments }, dataDir));
  const address = proxy.PUBLIC_BASE_URL ?? service.address;
  const forget = service.server && registerServer(address, service.server);
  return {
    ...service,
    address,
    dataDir,
    url: `${address}/api/v1`,
    stop: async () => {
      await expectAlive(service);
      await service.stop();
      forget?.();
      if (nginx) await nginx.stop();
      await place.remove();
    },
  };
}

/** Of a service with an API. */
export function httpServerOf({ server }: RunningService): HttpServer {
  if (!server) throw new Error('a worker has no HTTP server');
  return server;
}

/** Requests of journeys then pass through nginx, with the file that operators copy. */
export const IS_BEHIND_NGINX = process.env['TEST_NGINX'] === '1';

async function startNginx(
  { address }: RunningService,
  site: Pick<Parameters<typeof describeNginx>[0], 'port' | 'hasPopularSegments'>,
  dataDir: string,
): Promise<{ stop(): Promise<void> }> {
  const apiPorts = [Number(new URL(address).port)];
  const folder = await mkdtemp(join(tmpdir(), 'mediary-nginx-'));
  const storeFolder = join(dataDir, 'objects');
  const spec = await describeNginx({ ...site, apiPorts, folder, logFolder: folder, storeFolder });
  const nginx = await supervise(spec, (message) => process.stderr.write(`${message}\n`));
  return {
    stop: async () => {
      await nginx.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Connections are checked ten times as often as in production, so that a crash in a check comes to light
 * soon.
 */
const CHECK_EVERY_MS = 100;
/** Two ticks of the slowest interval of an idle service: the logger's 200 ms. */
const TWO_TICKS_MS = 2 * 200 + 100;

/**
 * What a test left behind must not end the service afterwards: it outlives two ticks of its intervals and
 * still answers.
 */
export async function expectAlive({
  address,
  server,
}: Pick<RunningService, 'address' | 'server'>): Promise<void> {
  if (!server?.server.listening) return;
  await new Promise((resolve) => {
    setTimeout(resolve, TWO_TICKS_MS);
  });
  const { status } = await fetch(`${address}/healthz`);
  if (status !== 200) throw new Error(`the service answers ${status} after the test`);
}

export const tokenOf = (userId: string | number, claims: object = {}): string =>
  signAccessToken({ user_id: userId, type: 'access', ...claims }, toSecret(SECRETS.ACCESS_TOKEN_SECRET));

export const asUser = (userId: string) => ({ authorization: `Bearer ${tokenOf(userId)}` });
export const asService = { 'x-service-key': SECRETS.SERVICE_API_KEY };
export const asOperator = { 'x-operator-key': SECRETS.OPERATOR_KEY };

export type Answer<T = Record<string, unknown>> = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    success: boolean;
    message: string;
    code: number;
    data: T;
    error: { error_code: string; details: Record<string, unknown> | null };
    request_id: string;
    timestamp: string;
  };
};

type Call = {
  readonly headers?: Record<string, string>;
  readonly json?: unknown;
  readonly body?: Uint8Array | string;
};

/**
 * One JSON call, whose response must be as the OpenAPI document says: `call(service, 'POST
 * /media/upload-url', { headers: asUser('u'), json: {…} })`.
 */
export async function call<T = Record<string, unknown>>(
  service: { readonly url: string },
  methodAndPath: string,
  { headers, json, body }: Call = {},
): Promise<Answer<T>> {
  const [method = 'GET', path = ''] = methodAndPath.split(' ');
  const url = path.startsWith('http') ? path : `${service.url}${path}`;
  const bySdk = IS_BY_SDK ? await callBySdk({ method, url, headers, json, body }) : undefined;
  if (bySdk) {
    await checkResponse(bySdk);
    return bySdk as Answer<T>;
  }
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    ...(json === undefined
      ? { ...(headers && { headers }), ...(body !== undefined && { body: body as string }) }
      : { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(json) }),
  });
  const { status } = response;
  const answered = (await response.json()) as Answer<T>['body'];
  await checkResponse({ method, url, status, body: answered });
  return { status, headers: response.headers, body: answered };
}

/** Asks until the answer pleases; fails with the last one when the time is over. */
export async function eventually<T>(
  ask: () => Promise<T>,
  pleases: (answer: T) => boolean,
  { withinMs = 120_000 } = {},
): Promise<T> {
  const end = Date.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (pleases(answer)) return answer;
    if (Date.now() > end)
      throw new Error(`still ${JSON.stringify(answer)?.slice(0, 1000)} after ${withinMs} ms`);
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
}
