// Tests that work of one key runs sequentially and that failures do not block later work.
import { expect, test } from 'vitest';
import { unavailable } from '../http/errors.ts';
import { createKeyedMutex } from './keyed-mutex.ts';

test('work of one key runs in order without overlap, work of other keys does not wait', async () => {
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

test('a failure is reported to its own caller only', async () => {
  const inTurn = createKeyedMutex();
  const failing = inTurn('a', () => Promise.reject(new Error('mine')));
  const next = inTurn('a', async () => 'yours');
  await expect(failing).rejects.toThrow('mine');
  await expect(next).resolves.toBe('yours');
});

test('UNAVAILABLE also fails the work that waits behind it', async () => {
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
