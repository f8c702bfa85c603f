// Those who ask for one thing are served one after the other, and a failure holds nobody up.
import { expect, test } from 'vitest';
import { unavailable } from '../errors.ts';
import { createKeyedMutex } from './keyed-mutex.ts';

test('work under one name never overlaps and keeps its order, work under others does not wait', async () => {
  const inTurn = createKeyedMutex();
  const seen: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = inTurn('a', async () => {
    await gate.promise;
    seen.push('a1');
  });
  const second = inTurn('a', async () => {
    seen.push('a2');
  });
  await inTurn('b', async () => {
    seen.push('b');
  });
  gate.resolve();
  await Promise.all([first, second]);
  expect(seen).toEqual(['b', 'a1', 'a2']);
});

test('work that fails tells its caller alone', async () => {
  const inTurn = createKeyedMutex();
  const failing = inTurn('a', () => Promise.reject(new Error('mine')));
  const next = inTurn('a', async () => 'yours');
  await expect(failing).rejects.toThrow('mine');
  await expect(next).resolves.toBe('yours');
});

test('behind work that could not be reached, nobody waits once more', async () => {
  const inTurn = createKeyedMutex();
  const away = inTurn('a', () => Promise.reject(unavailable('down')));
  let began = false;
  const next = inTurn('a', async () => {
    began = true;
  });
  await expect(away).rejects.toThrow('down');
  await expect(next).rejects.toThrow('down');
  expect(began).toBe(false);
  await expect(inTurn('a', async () => 'up again')).resolves.toBe('up again');
});
