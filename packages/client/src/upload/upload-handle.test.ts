// Tests uploads that pause, go on and end, one by one and in a queue.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import type { Asset } from '../api/assets.ts';
import { createUploadQueue, startUpload } from './upload-handle.ts';
import type { UploadOptions } from './upload-options.ts';

const FILE = new Blob(['x']);

type Sending = { readonly options: UploadOptions; readonly finish: (id: string) => void };

/** Uploads that end when the test says so, or with the reason of their signal. */
function createSender() {
  const sendings: Sending[] = [];
  const send = (_file: Blob, options: UploadOptions): Promise<Asset> =>
    new Promise((resolve, reject) => {
      options.signal?.addEventListener('abort', () => reject(options.signal?.reason));
      sendings.push({ options, finish: (id) => resolve({ id } as Asset) });
    });
  return { send, sendings };
}

const until = (condition: () => boolean): Promise<void> => vi.waitFor(() => expect(condition()).toBe(true));

describe('startUpload', () => {
  test('goes on after a pause with the entry of the first attempt', async () => {
    const { send, sendings } = createSender();
    const upload = startUpload(send, { file: FILE });
    await until(() => upload.state === 'uploading');
    upload.pause();
    expect(upload.state).toBe('paused');
    await sleep(20);
    expect(sendings).toHaveLength(1);
    upload.resume();
    await until(() => sendings.length === 2);
    expect(sendings[1]?.options.resume).toBe(sendings[0]?.options.resume);
    sendings[1]?.finish('a');
    expect([await upload.done, upload.state]).toEqual([{ id: 'a' }, 'done']);
  });

  test('a pause that ends at once starts at most one more attempt', async () => {
    const { send, sendings } = createSender();
    const upload = startUpload(send, { file: FILE });
    upload.pause();
    upload.resume();
    await until(() => upload.state === 'uploading');
    await sleep(20);
    expect([sendings.length, upload.state]).toEqual([1, 'uploading']);
    upload.pause();
    upload.resume();
    await until(() => sendings.length === 2);
    await sleep(20);
    expect([sendings.length, upload.state]).toEqual([2, 'uploading']);
    sendings[1]?.finish('a');
    await upload.done;
  });

  test.each([
    ['that runs', false],
    ['that is paused', true],
  ])('cancel ends an upload %s', async (_name, isPaused) => {
    const { send } = createSender();
    const upload = startUpload(send, { file: FILE });
    if (isPaused) upload.pause();
    await sleep(10);
    upload.cancel('enough');
    await expect(upload.done).rejects.toBe('enough');
    expect(upload.state).toBe('cancelled');
  });

  test('the signal of the caller cancels, and failures are those of the upload', async () => {
    const { send } = createSender();
    const controller = new AbortController();
    const upload = startUpload(send, { file: FILE, options: { signal: controller.signal } });
    controller.abort('gone');
    await expect(upload.done).rejects.toBe('gone');
    const failed = startUpload(async () => Promise.reject(new Error('full')), { file: FILE });
    await expect(failed.done).rejects.toThrow('full');
    expect(failed.state).toBe('failed');
  });
});

describe('a queue', () => {
  test('sends so many files at a time, and a paused one gives its place to another', async () => {
    const { send, sendings } = createSender();
    const queue = createUploadQueue(send, { concurrency: 2 });
    const [first, second, third] = [queue.add(FILE), queue.add(FILE), queue.add(FILE)];
    await until(() => sendings.length === 2);
    await sleep(20);
    expect([first?.state, second?.state, third?.state]).toEqual(['uploading', 'uploading', 'waiting']);
    first?.pause();
    await until(() => third?.state === 'uploading');
    first?.resume();
    await sleep(20);
    expect([sendings.length, first?.state]).toEqual([3, 'waiting']);
    sendings[1]?.finish('b');
    await until(() => first?.state === 'uploading');
    sendings[2]?.finish('c');
    sendings[3]?.finish('a');
    const ids = await Promise.all([first, second, third].map(async (upload) => (await upload?.done)?.id));
    expect(ids).toEqual(['a', 'b', 'c']);
  });

  test('one that is cancelled while it waits does not take a place', async () => {
    const { send, sendings } = createSender();
    const queue = createUploadQueue(send, { concurrency: 1 });
    const [first, second, third] = [queue.add(FILE), queue.add(FILE), queue.add(FILE)];
    second?.cancel('no');
    await expect(second?.done).rejects.toBe('no');
    await until(() => sendings.length === 1);
    sendings[0]?.finish('a');
    await first?.done;
    await until(() => third?.state === 'uploading');
    expect(sendings).toHaveLength(2);
    sendings[1]?.finish('c');
    await third?.done;
  });

  test('refuses a concurrency that is not a positive integer', () => {
    expect(() => createUploadQueue(createSender().send, { concurrency: 0 })).toThrow('concurrency');
  });
});
