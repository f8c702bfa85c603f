// Requests with a body that the service refuses while it is still sent, and clients in other processes.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expectSuccess } from './envelope.ts';
import { IMAGE, openUpload, putBytes, VIDEO } from '../media.ts';
import { asUser, IS_BEHIND_NGINX, startTestService, type TestService } from '../service.ts';
import { create as createTus, TUS } from '../uploads/tus.ts';

const MIB = 1024 * 1024;
/** More than the sockets of both sides hold. */
const BODY = Buffer.alloc(3 * MIB, 'refused ');
const ANN = asUser('ann');
export const TRIES = 4;

type Refused = {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly status: number;
};

export const REFUSED = [
  'a webhook that is too large',
  'JSON that is too large',
  'JSON without credentials',
  'a body to no route',
  'a PUT with a wrong ticket',
  'a PUT of a part',
  'a PUT of another type',
  'a PUT of more than announced',
  'a PUT of other bytes',
  'a PATCH from another offset',
  'a PATCH of another type',
] as const;

type RefusedName = (typeof REFUSED)[number];
export type RefusingService = {
  readonly service: TestService;
  readonly refusals: Readonly<Record<RefusedName, Refused>>;
  /** The argument of a client's program: method, URL, headers, file of the body, number of tries. */
  readonly toArgument: (name: RefusedName) => string;
  readonly bodyFile: string;
};

export async function startRefusingService(): Promise<RefusingService> {
  const service = await startTestService(
    { MEDIARY_ROLE: 'api', LOG_LEVEL: 'silent' },
    { isStoreDirect: false },
  );
  const bodyFile = join(service.dataDir, 'refused-body');
  await writeFile(bodyFile, BODY);
  const refusals = { ...refusedCalls(service), ...(await refusedUploads(service)) };
  const toArgument = (name: RefusedName) => {
    const { method, url, headers } = refusals[name];
    return JSON.stringify([method, url, headers, bodyFile, TRIES]);
  };
  return { service, refusals, toArgument, bodyFile };
}

/** In another process, as the client of a service is. Returns the lines of its output. */
export async function runClient(program: string, args: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)(program, [...args]);
  return stdout.trim().split('\n');
}

function refusedCalls(service: TestService) {
  const json = { 'content-type': 'application/json' };
  const post = (path: string, headers: Record<string, string>, status: number): Refused => ({
    method: 'POST',
    url: `${service.url}${path}`,
    headers: { ...json, ...headers },
    status,
  });
  return {
    'a webhook that is too large': post('/webhooks/stream/onprem', {}, 413),
    'JSON that is too large': post('/media/upload-url', ANN, 413),
    'JSON without credentials': post('/media/upload-url', {}, IS_BEHIND_NGINX ? 413 : 401),
    'a body to no route': post('/nothing', ANN, IS_BEHIND_NGINX ? 413 : 404),
  };
}

async function refusedUploads(service: TestService) {
  const [open, short, done, resumable] = await Promise.all([
    openUpload(service, 'ann', IMAGE),
    openUpload(service, 'ann', { ...IMAGE, size_bytes: 1000 }),
    openUpload(service, 'ann', IMAGE),
    openUpload(service, 'ann', VIDEO),
  ]);
  const url = open.upload_url as string;
  expectSuccess(await putBytes(done, Buffer.from('other bytes')));
  const put = (status: number, to: string, headers: Record<string, string> = {}): Refused => ({
    method: 'PUT',
    url: to,
    headers: { 'content-type': 'image/png', ...headers },
    status,
  });
  const target = await createTus(resumable, BODY.length);
  const patch = (status: number, headers: Record<string, string>): Refused => ({
    method: 'PATCH',
    url: target,
    headers: { ...TUS, 'content-type': 'application/offset+octet-stream', ...headers },
    status,
  });
  return {
    'a PUT with a wrong ticket': put(401, url.replace(/ticket=.*/, 'ticket=x')),
    'a PUT of a part': put(400, url, { 'content-range': `bytes 0-${BODY.length - 1}/${BODY.length}` }),
    'a PUT of another type': put(415, url, { 'content-type': 'text/html' }),
    'a PUT of more than announced': put(400, short.upload_url as string),
    'a PUT of other bytes': put(409, done.upload_url as string),
    'a PATCH from another offset': patch(409, { 'upload-offset': '1000' }),
    'a PATCH of another type': patch(400, { 'upload-offset': '0', 'content-type': 'text/plain' }),
  };
}
