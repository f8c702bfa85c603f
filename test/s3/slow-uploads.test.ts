// Slow uploads through the service to an S3 store do not keep others from storing.
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { expectRefusal, expectSuccess } from '../support/http/envelope.ts';
import { openUpload, putBytes, VIDEO } from '../support/media.ts';
import { openCarelessSocket, type RawAnswer, readAnswer } from '../support/http/raw-socket.ts';
import { createBucket, describeS3 } from '../support/store/s3.ts';
import { startTestService, type TestService } from '../support/service.ts';

const MIB = 1024 ** 2;
/** More parts of 8 MiB than a process holds in memory. */
const SLOW_UPLOADS = 70;

describeS3('a service with an S3 store', () => {
  let service: TestService;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    const { location, url } = await createBucket({ parameters: '&direct=false' });
    expect(location.direct).toBe(false);
    service = await startTestService({ STORAGE_URL: url, MEDIARY_ROLE: 'api', LOG_LEVEL: 'error' });
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  afterAll(() => service?.stop());

  const open = (user: string, size: number) => openUpload(service, user, { ...VIDEO, size_bytes: size });

  /** Announces 9 MiB, sends some bytes, and then about 1 KB per second, which is fast enough to stay open. */
  async function beginSlowUpload(bytes: Buffer): Promise<Socket> {
    const { upload_url: url } = await open('slow', 9 * MIB);
    const { pathname, search } = new URL(url as string);
    const socket = await openCarelessSocket(service.address);
    sockets.push(socket);
    socket.write(
      `PUT ${pathname}${search} HTTP/1.1\r\nHost: a\r\nContent-Type: video/mp4\r\n` +
        `Content-Length: ${9 * MIB}\r\n\r\n`,
    );
    socket.write(bytes);
    const timer = setInterval(() => socket.write(Buffer.alloc(1000)), 1000);
    socket.once('close', () => clearInterval(timer));
    return socket;
  }

  const beginSlowUploads = (bytes: Buffer) =>
    Promise.all(Array.from({ length: SLOW_UPLOADS }, () => beginSlowUpload(bytes)));

  async function expectPutWorks(size: number): Promise<void> {
    expectSuccess(await putBytes(await open('fast', size), randomBytes(size)));
  }

  test('stores the upload of another user beside uploads that have hardly begun', async () => {
    const answers: RawAnswer[] = [];
    for (const socket of await beginSlowUploads(randomBytes(1000)))
      readAnswer(socket).then(
        (answer) => answers.push(answer),
        () => {},
      );
    await expectPutWorks(20 * MIB);
    expect(answers).toEqual([]);
  });

  test('refuses the slowest uploads when they hold the memory that others wait for', async () => {
    const slow = await beginSlowUploads(randomBytes(300_000));
    const refused = Promise.any(slow.map(readAnswer));
    await expectPutWorks(MIB);
    const answer = await refused;
    expect(expectRefusal(answer, 503).details).toMatchObject({ reason: 'busy' });
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    await expectPutWorks(20 * MIB);
  });
});
