// Concurrent PUTs: one writer at a time, and stored bytes are never overwritten.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { readAsset } from '../../support/media.ts';
import { BYTES, put, putUploadsTo, sha256, urlOf } from '../../support/uploads/put-uploads.ts';
import { readAnswer } from '../../support/http/raw-socket.ts';
import { asUser, call, startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ UPLOAD_TTL_S: '3600' }, { isStoreDirect: false });
});
afterAll(() => service.stop());

const { open, expectNothingStored, writerOf, begin } = putUploadsTo(() => service);

describe('one writer', () => {
  test('the service answers 409 while another request writes, and that request continues', async () => {
    const started = await open();
    const first = await begin(started, [`Content-Length: ${BYTES.length}`], BYTES.subarray(0, 10));
    await writerOf(started);
    const refused = await put(urlOf(started), Buffer.from('another'));
    expect(expectRefusal(refused, 409).details).toEqual({ reason: 'upload_in_progress' });
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds, 'until the lease of the writer expires').toBeGreaterThanOrEqual(1);
    expect(seconds).toBeLessThanOrEqual(10);
    first.write(BYTES.subarray(10));
    expect(expectSuccess(await readAnswer(first))).toMatchObject({ checksum_sha256: sha256(BYTES) });
  });

  test('exactly one of many concurrent uploads is stored', async () => {
    const started = await open();
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, n) => put(urlOf(started), Buffer.alloc(2000, n))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    const winner = answers.findIndex(({ status }) => status === 200);
    expect((await readAsset(service, 'ann', started.asset_id))['checksum_sha256']).toBe(
      sha256(Buffer.alloc(2000, winner)),
    );
  });

  test('stored bytes are never overwritten', async () => {
    const started = await open();
    expectSuccess(await put(urlOf(started)));
    expect(expectRefusal(await put(urlOf(started), Buffer.from('other')), 409).details).toEqual({
      reason: 'already_uploaded',
    });
    expect((await readAsset(service, 'ann', started.asset_id))['checksum_sha256']).toBe(sha256(BYTES));
  });

  test('a deleted asset accepts no bytes', async () => {
    const started = await open();
    expectSuccess(await call(service, `DELETE /media/${started.asset_id}`, { headers: asUser('ann') }));
    expectRefusal(await put(urlOf(started)), 404);
    await expectNothingStored(started.asset_id);
  });
});
