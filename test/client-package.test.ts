// The package @mediary/client as it is published: its files, its types in strict projects, and its size.
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeClip } from './support/clips/clips.ts';
import { SECRETS, startTestService } from './support/service.ts';

const ROOT = join(import.meta.dirname, '..');
const NODE_MODULES = join(ROOT, 'node_modules');
const environment = { ...process.env };
const run = async (file: string, ...args: string[]): Promise<string> => {
  const { stdout } = await promisify(execFile)(file, args, { cwd: project, env: environment }).catch(
    (error: { stdout: string; stderr: string }) => {
      throw new Error(`${args.join(' ')} failed:\n${error.stdout}${error.stderr}`);
    },
  );
  return stdout;
};

/** Modules with code; those of `api` have types only. */
const CODE = [
  'backoff',
  'calls/captions',
  'calls/collections',
  'calls/upload-tokens',
  'calls/versions',
  'chapters',
  'expected-times',
  'contract/enums',
  'contract/failures',
  'cors',
  'encoding',
  'errors',
  'event-stream',
  'events',
  'image-url',
  'images',
  'index',
  'inspect/bounded-reader',
  'inspect/boxes',
  'inspect/exif-orientation',
  'inspect/image-headers',
  'inspect/inspect-file',
  'inspect/inspection',
  'inspect/movie-source',
  'inspect/placeholder',
  'inspect/read-video',
  'inspect/refusals',
  'inspect/still-boxes',
  'media',
  'media-rules/file-limits',
  'media-rules/image-signature',
  'media-rules/image-size',
  'media-rules/magic-bytes',
  'media-rules/media-type',
  'media-rules/probe-audio',
  'media-rules/probe-file',
  'media-rules/probe-tracks',
  'media-rules/probe-video',
  'media-rules/video-facts',
  'media-rules/video-traits',
  'media-rules/warnings',
  'mediary',
  'node',
  'pages',
  'payload',
  'payload/store-file',
  'request/credentials',
  'request/deadline',
  'response',
  'server',
  'server/signing',
  'server/upload-handler',
  'transport',
  'upload/checksum',
  'upload/endpoint-client',
  'upload/form-body',
  'upload/media-type',
  'upload/multipart-upload',
  'upload/open-upload',
  'upload/pace',
  'upload/put-upload',
  'upload/resume-store',
  'upload/send-bytes',
  'upload/transfer',
  'upload/tus-upload',
  'upload/upload',
  'upload/upload-handle',
  'upload/upload-options',
  'webhooks/verify-webhook',
  'wait-until-ready',
  'webhooks/webhook-endpoints',
];
const TYPES = [
  'access-rules',
  'asset-media',
  'assets',
  'batches',
  'captions',
  'collections',
  'enums',
  'errors',
  'events',
  'image-signing',
  'imports',
  'library',
  'multipart',
  'playback',
  'upload-tokens',
  'uploads',
  'webhook-endpoints',
];

const PROGRAM = `
import { createMediary, isMediaryError, verifyWebhook } from '@mediary/client';
import type { Asset, StreamedEvent, UploadProgress, WebhookEvent } from '@mediary/client';
import { signAccessToken } from '@mediary/client/server';

const token = () => signAccessToken({ secret: 'secret', userId: 'ann', expiresInS: 60 });
const mediary = createMediary({ baseUrl: 'http://127.0.0.1:1', token, maxRetries: 0 });
export async function main(file: Blob): Promise<Asset> {
  const onProgress = ({ bytesSent, totalBytes, phase }: UploadProgress) => [bytesSent / totalBytes, phase];
  const { id } = await mediary.media.upload(file, { filename: 'a.mp4', onProgress, checksum: true });
  for await (const asset of mediary.media.list({ kind: 'video', sort: 'created_at' })) asset.stream_status;
  for await (const event of mediary.events.stream()) if (event.type === 'asset.ready') break;
  // @ts-expect-error: a status that does not exist
  mediary.media.list({ stream_status: 'done' });
  return mediary.media.waitUntilReady(id);
}
export function describe(event: StreamedEvent | WebhookEvent): string | number | undefined {
  switch (event.type) {
    case 'asset.progress':
      // @ts-expect-error: only failures have a code
      event.data.code;
      return event.data.progress;
    case 'asset.failed':
      return event.data.code;
    case 'webhook.test':
      return event.asset satisfies null ?? undefined;
    case 'asset.deleted':
      return String(event.data.restorable satisfies boolean | undefined);
    default:
      // Later versions of the service may send types that are not declared.
      return event.type.toUpperCase();
  }
}
const failure = await mediary.media.get('1').catch((error: unknown) => error);
if (!isMediaryError(failure, 'CONNECTION_FAILED')) throw failure;
const request = { payload: '', headers: {}, secrets: [] };
const refused = await verifyWebhook(request).catch((error: unknown) => error);
if (!isMediaryError(refused) || refused.reason !== 'missing') throw refused;
`;

/** What follows the examples: a signed request for the receiver of webhooks. */
const RECEIVED_WEBHOOK = `
import { createHmac } from 'node:crypto';
const secretBytes = Buffer.alloc(32, 7);
const payload = JSON.stringify({ type: 'asset.ready' });
const signedAt = String(Math.floor(Date.now() / 1000));
const signature = createHmac('sha256', secretBytes).update(\`e-1.\${signedAt}.\${payload}\`).digest('base64');
const response = await receive(
  new Request('http://app.test', {
    method: 'POST',
    body: payload,
    headers: {
      'webhook-id': 'e-1',
      'webhook-timestamp': signedAt,
      'webhook-signature': \`v1,\${signature}\`,
    },
  }),
  \`whsec_\${secretBytes.toString('base64')}\`,
);
if (response.status === 204) console.log('webhook verified');
`;

const OPTIONS = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  target: 'es2022',
  module: 'nodenext',
  skipLibCheck: false,
};
const PLATFORMS = {
  browser: { ...OPTIONS, lib: ['es2022', 'dom', 'dom.iterable'], types: [] },
  node: { ...OPTIONS, lib: ['es2022'], types: ['node'], skipLibCheck: true },
};

let project: string;
let installed: string;
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'mediary-package-'));
  await run(process.execPath, join(ROOT, 'packages/client/build.ts'), join(project, 'built'));
  await run('npm', 'pack', './built');
  await run('tar', '-xzf', 'mediary-client-0.1.0.tgz');
  installed = join(project, 'node_modules/@mediary/client');
  await mkdir(join(project, 'node_modules/@mediary'), { recursive: true });
  await run('mv', 'package', installed);
  for (const name of ['mediabunny', 'thumbhash', 'tus-js-client', '@types', 'undici-types'])
    await symlink(join(NODE_MODULES, name), join(project, 'node_modules', name));
  await writeFile(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await writeFile(join(project, 'program.ts'), PROGRAM);
});
afterAll(() => rm(project, { recursive: true, force: true }));

test('it has these files and no others', async () => {
  const files = (await readdir(installed, { recursive: true })).filter((name) => name.includes('.'));
  const expected = [
    ...CODE.flatMap((name) => [`${name}.js`, `${name}.d.ts`]),
    ...TYPES.map((name) => `api/${name}.d.ts`),
    'package.json',
    'README.md',
  ];
  expect(files.sort()).toEqual(expected.sort());
  expect(await readdir(installed)).toContain('LICENSE');
});

describe.each(Object.entries(PLATFORMS))('a strict TypeScript project for %s', (name, compilerOptions) => {
  test('compiles and runs', async () => {
    const outDir = join(project, name);
    const config = { compilerOptions: { ...compilerOptions, outDir }, files: ['program.ts'] };
    await writeFile(join(project, `${name}.json`), JSON.stringify(config));
    await run(process.execPath, join(NODE_MODULES, 'typescript/bin/tsc'), '-p', `${name}.json`);
    await run(process.execPath, join(outDir, 'program.js'));
  });
});

test('the examples of its README run in their order', async () => {
  const readme = await readFile(join(installed, 'README.md'), 'utf8');
  const blocks = Array.from(readme.matchAll(/```ts\n([\s\S]*?)```/g), ([, code = '']) => code);
  await writeFile(join(project, 'examples.ts'), [...blocks, RECEIVED_WEBHOOK].join('\n'));
  await copyFile(await makeClip({ seconds: 1 }), join(project, 'sample.mp4'));
  const service = await startTestService();
  try {
    Object.assign(environment, { API: service.address, KEY: SECRETS.SERVICE_API_KEY });
    const output = await run(process.execPath, 'examples.ts');
    for (const text of ["[ 'fulfilled', 'fulfilled' ]", 'Hello', 'whsec_', 'webhook verified'])
      expect(output).toContain(text);
  } finally {
    await service.stop();
  }
});
