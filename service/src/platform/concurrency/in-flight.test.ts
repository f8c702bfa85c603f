// Tests waiting for work that has begun.
import { expect, test } from 'vitest';
import { createInFlight } from './in-flight.ts';

test('settled waits for what has begun, however it ends, and for nothing else', async () => {
  const { track, settled } = createInFlight();
  await settled();
  const [good, bad] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const results = Promise.allSettled([track(good.promise), track(bad.promise)]);
  let isSettled = false;
  const waiting = settled().then(() => {
    isSettled = true;
  });
  good.resolve('stored');
  await good.promise;
  expect(isSettled).toBe(false);
  bad.reject(new Error('cut off'));
  await waiting;
  expect((await results).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  await settled();
});
