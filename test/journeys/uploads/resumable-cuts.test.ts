// tus-js-client with its own retries sends a file through connections that break (contract B4).
import { createHash, randomBytes } from 'node:crypto';
import { Upload } from 'tus-js-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BreakingProxy, startBreakingProxy } from '../../support/http/breaking-proxy.ts';
import { freePort } from '../../support/http/free-port.ts';
import { IMAGE, openUpload, readAsset } from '../../support/media.ts';
import { asUser, call, startTestService, type TestService } from '../../support/service.ts';
import { tusUrl } from '../../support/uploads/tus.ts';

const MIB = 1024 * 1024;
const SIZE = 24 * MIB + 12_345;
const CUTS = 5;

let service: TestService;
let proxy: BreakingProxy;
beforeAll(async () => {
  const port = await freePort();
  proxy = await startBreakingProxy(port);
  service = await startTestService({ PORT: String(port), PUBLIC_BASE_URL: proxy.origin });
});
afterAll(async () => {
  proxy?.close();
  await service?.stop();
});

test.each([
  ['in one request', {}],
  ['in chunks', { chunkSize: 1_500_000 }],
  ['in one request that announces the length', { uploadLengthDeferred: true }],
])('the file that is sent %s arrives complete, and its bytes are sent once', async (_how, options) => {
  const bytes = randomBytes(SIZE);
  const started = await openUpload(service, 'ann', { ...IMAGE, size_bytes: SIZE });
  const passedBefore = proxy.passed();
  const failures: unknown[] = [];
  const uploaded = new Promise<void>((resolve, reject) => {
    const upload = new Upload(bytes, {
      endpoint: tusUrl(started),
      ...options,
      onShouldRetry: (error) => failures.push(error) > 0,
      onSuccess: () => resolve(),
      onError: reject,
    });
    expect(upload.options.retryDelays, 'the default of the client').toEqual([0, 1000, 3000, 5000]);
    upload.start();
  });
  const cuts = (async () => {
    for (let cut = 0; cut < CUTS; cut += 1) await proxy.breakAfter(3 * MIB);
  })();
  await Promise.all([uploaded, cuts]);
  expect(failures.length).toBeGreaterThanOrEqual(CUTS);
  // A cut loses what the buffers of the sockets hold.
  expect(proxy.passed() - passedBefore).toBeLessThan(2 * SIZE);

  expect(await readAsset(service, 'ann', started.asset_id)).toMatchObject({
    size_bytes: SIZE,
    checksum_sha256: createHash('sha256').update(bytes).digest('hex'),
  });
  const { body } = await call<{ url: string }>(service, `GET /media/${started.asset_id}/download-url`, {
    headers: asUser('ann'),
  });
  expect(Buffer.from(await (await fetch(body.data.url)).arrayBuffer()).equals(bytes)).toBe(true);
});
