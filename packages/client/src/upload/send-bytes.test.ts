// Requests with bodies where XMLHttpRequest sends them, as in browsers.
import { afterEach, expect, test, vi } from 'vitest';
import { createByteSender } from './send-bytes.ts';

afterEach(() => vi.unstubAllGlobals());

test('a request whose signal has aborted is not sent', async () => {
  const send = vi.fn();
  vi.stubGlobal(
    'XMLHttpRequest',
    class {
      readonly upload = {};
      open = () => {};
      abort = () => {};
      send = send;
    },
  );
  const request = { method: 'PUT', url: 'http://store.test', headers: {}, body: new Blob(['x']) };
  const sending = createByteSender(undefined)({ ...request, signal: AbortSignal.abort('paused') });
  await expect(sending).rejects.toBe('paused');
  expect(send).not.toHaveBeenCalled();
});
