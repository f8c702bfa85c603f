// Tries every operation that the service needs of a bucket, and tells what an operator has to change.
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { ObjectKey } from '../object-key.ts';
import type {
  DirectUploads,
  ObjectStore,
  PartialObjects,
  PresignedRequest,
  StoreFinding,
} from '../object-store.ts';
import type { S3Connection } from './connection.ts';
import { describeStoreError } from './errors.ts';
import { findCorsProblem, findLifecycleProblem } from './bucket-settings.ts';

type Store = Omit<ObjectStore, 'diagnose'> & {
  readonly direct: DirectUploads;
  readonly partial: PartialObjects;
};
type Check = Omit<StoreFinding, 'problem'> & {
  /** Throws, or returns the problem in words. */
  readonly work: () => Promise<string | Fault | undefined>;
};
type Fault = Required<Pick<StoreFinding, 'problem' | 'configuration'>>;

const EXPIRES_S = 300;
const PART_BYTES = 5 * 1024 ** 2;
const TYPE = 'video/mp4';

export async function* diagnose(
  s3: S3Connection,
  store: Store,
  origins: readonly string[],
): AsyncGenerator<StoreFinding> {
  const folder = `health/${randomUUID()}`;
  const keyOf = (name: string) => `${folder}/${name}` as ObjectKey;
  const checks = [
    ...accessChecks(s3, store, keyOf('object')),
    ...(s3.location.direct ? directChecks(store, keyOf) : [partsCheck(store, keyOf('parts'))]),
    required('policy', 'receive resumable uploads', () => uploadInSteps(store.partial, keyOf('resumable'))),
    ...(s3.location.direct ? origins : []).map((origin, index) =>
      corsCheck(store, keyOf(`cors-${index}`), origin),
    ),
    {
      operation: 'delete objects',
      isRequired: true,
      fix: 'policy',
      work: () => deleteAll(store, `${folder}/` as ObjectKey),
    },
    {
      operation: 'remove unfinished uploads in parts (lifecycle rule)',
      isRequired: false,
      fix: 'lifecycle',
      work: () => findLifecycleProblem(s3),
    },
  ] satisfies Check[];
  for (const { work, ...finding } of checks) {
    const found = await work().catch(describeStoreError);
    const { problem, configuration } = typeof found === 'object' ? found : { problem: found };
    yield { ...finding, problem, ...(configuration && { configuration }) };
    // Without access every further check would fail for the same reason.
    if (problem !== undefined && finding.fix === 'settings') return;
  }
}

const required = (fix: StoreFinding['fix'], operation: string, work: Check['work']): Check => ({
  operation,
  isRequired: true,
  fix,
  work,
});

function accessChecks(s3: S3Connection, store: Store, key: ObjectKey): Check[] {
  const bytes = Buffer.from('probe');
  return [
    required('settings', 'find credentials', async () => {
      await s3.run(() => s3.client.config.credentials());
      return undefined;
    }),
    required('settings', 'reach the bucket and list objects', async () => {
      for await (const _ of store.list('health/' as ObjectKey)) break;
      return undefined;
    }),
    required('policy', 'put objects', async () => {
      await store.put(key, once(bytes), bytes.length);
      return undefined;
    }),
    required('store', 'refuse to overwrite objects (If-None-Match)', async () => {
      const refusal = await store.put(key, once(bytes), bytes.length).catch((error: unknown) => error);
      if (refusal instanceof Error && 'reason' in refusal && refusal.reason === 'exists') return undefined;
      if (refusal instanceof Error) throw refusal;
      return 'the store ignores If-None-Match: use a release that supports conditional writes';
    }),
    required('policy', 'read objects and ranges', async () => {
      const whole = await store.read(key);
      const part = Buffer.concat(await store.stream(key, { start: 1, end: 2 }).toArray());
      return whole?.bytes?.byteLength === bytes.length && part.toString() === 'ro'
        ? undefined
        : 'the store returned other bytes than it received';
    }),
    required('policy', 'copy objects', async () => {
      const copy = `${key}-copy` as ObjectKey;
      await store.copy(key, copy);
      return (await store.size(copy)) === bytes.length
        ? undefined
        : 'a copy has another size than its source';
    }),
    required('policy', 'tell missing objects from forbidden ones', async () => {
      const size = await store.size(`${key}-missing` as ObjectKey);
      return size === undefined ? undefined : 'the store has an object that nobody stored';
    }),
  ];
}

function directChecks({ direct, ...store }: Store, keyOf: (name: string) => ObjectKey): Check[] {
  const bytes = randomBytes(1000);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const presignPut = (name: string, hex = sha256) =>
    direct.presignPut({
      key: keyOf(name),
      contentType: TYPE,
      contentLength: bytes.length,
      sha256: hex,
      expiresInSeconds: EXPIRES_S,
    });
  return [
    required('policy', 'accept presigned uploads', async () =>
      expectStatus(await sendTo(await presignPut('presigned'), bytes), 200),
    ),
    required('store', 'refuse presigned uploads of another type', async () => {
      const request = await presignPut('type');
      const changed = { ...request, headers: { ...request.headers, 'content-type': 'text/html' } };
      return expectStatus(await sendTo(changed, bytes), 403);
    }),
    required('store', 'refuse presigned uploads of other bytes (SHA-256)', async () =>
      expectStatus(await sendTo(await presignPut('digest'), randomBytes(bytes.length)), 400),
    ),
    required('policy', 'serve presigned downloads', async () => {
      const name = "attachment; filename*=UTF-8''probe.mp4";
      const request = await direct.presignGet({
        key: keyOf('presigned'),
        responseContentDisposition: name,
        responseContentType: TYPE,
        expiresInSeconds: EXPIRES_S,
      });
      const response = await sendTo(request);
      return response.headers.get('content-disposition') === name
        ? expectStatus(response, 200)
        : 'the store ignores response-content-disposition';
    }),
    required('policy', 'upload in parts', () => uploadInParts(direct, store, keyOf('parts'))),
  ];
}

/** The service sends objects of more than one part in parts too. */
const partsCheck = (store: Store, key: ObjectKey): Check =>
  required('policy', 'upload in parts', async () => {
    const { sizeBytes } = await store.put(key, once(Buffer.alloc(2 * PART_BYTES)), 2 * PART_BYTES);
    return (await store.size(key)) === sizeBytes ? undefined : 'the store lost a part';
  });

async function uploadInParts(
  direct: DirectUploads,
  store: Pick<ObjectStore, 'size'>,
  key: ObjectKey,
): Promise<string | undefined> {
  const upload = await direct.createMultipart(key, TYPE);
  try {
    for (const [index, length] of [PART_BYTES, 1].entries()) {
      const request = await direct.presignPart({
        ...upload,
        partNumber: index + 1,
        contentLength: length,
        expiresInSeconds: EXPIRES_S,
      });
      const problem = expectStatus(await sendTo(request, Buffer.alloc(length)), 200);
      if (problem !== undefined) return problem;
    }
    await direct.completeMultipart(upload, (await direct.listParts(upload)) ?? []);
    return (await store.size(key)) === PART_BYTES + 1 ? undefined : 'the store lost a part';
  } finally {
    await direct.abortMultipart(upload);
  }
}

/** Discarding lists the uploads in parts. */
async function uploadInSteps(partial: PartialObjects, key: ObjectKey): Promise<string | undefined> {
  const bytes = randomBytes(1000);
  const begun = await partial.append({ key, length: 0, state: null }, once(bytes), PART_BYTES);
  const whole = await partial.append(begun, once(bytes), PART_BYTES);
  await partial.discard(key);
  return whole.length === 2 * bytes.length ? undefined : 'the store lost bytes';
}

const corsCheck = ({ direct }: Store, key: ObjectKey, origin: string): Check =>
  required('cors', corsOperation(origin), async () =>
    findCorsProblem(
      await direct.presignPut({ key, contentType: TYPE, contentLength: 1, expiresInSeconds: EXPIRES_S }),
      origin,
    ),
  );

const corsOperation = (origin: string): string =>
  origin === 'null'
    ? 'let players follow redirects to the store (CORS, origin "null")'
    : `let web pages of ${origin} upload and play (CORS)`;

async function deleteAll(store: Store, prefix: ObjectKey): Promise<string | undefined> {
  await store.removeAll(prefix);
  for await (const key of store.list(prefix)) return `${key} is still listed`;
  return undefined;
}

const sendTo = ({ url, method, headers }: PresignedRequest, body?: Uint8Array): Promise<Response> =>
  fetch(url, {
    method,
    headers,
    ...(body && { body: new Uint8Array(body) }),
    signal: AbortSignal.timeout(60_000),
  });

const expectStatus = ({ status }: Response, expected: number): string | undefined =>
  status === expected ? undefined : `the store answered ${status} instead of ${expected}`;

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
