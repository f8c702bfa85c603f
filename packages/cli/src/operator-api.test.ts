// Tests broken connections: what is sent again, and the error of the last attempt.
import { expect, onTestFinished, test } from 'vitest';
import { createOperatorApi } from './operator-api.ts';
import { serve } from './program.fixture.ts';

/** `breakCount`: responses that break off before one is whole. */
async function open(breakCount: number) {
  const requests: (string | undefined)[] = [];
  const { server, url } = await serve((request, response) => {
    requests.push(`${request.method} ${request.url} ${request.headers['x-operator-key']}`);
    if (requests.length > breakCount) return response.end('{"success":true,"data":"whole"}');
    response.writeHead(200, { 'content-length': 1000 });
    return response.write('{"success":true', () => response.destroy());
  });
  onTestFinished(() => {
    server.close();
  });
  const { signal } = new AbortController();
  return { requests, api: createOperatorApi({ url, operatorKey: 'secret', signal, maxRetries: 1 }) };
}

test('a read is sent again', async () => {
  const { api, requests } = await open(1);
  expect(await api.get('/providers', { q: undefined, tag: ['a', 'b'] })).toBe('whole');
  const sent = 'GET /api/v1/admin/providers?tag=a&tag=b secret';
  expect(requests).toEqual([sent, sent]);
});

test('a response that breaks off each time is a failed connection', async () => {
  const { api, requests } = await open(9);
  await expect(api.get('/providers')).rejects.toMatchObject({ errorCode: 'CONNECTION_FAILED' });
  expect(requests).toHaveLength(2);
});

test('a change is sent once, because it may have taken effect', async () => {
  const { api, requests } = await open(9);
  await expect(api.post('/console-links', {})).rejects.toMatchObject({ errorCode: 'CONNECTION_FAILED' });
  await expect(api.delete('/owners/ann')).rejects.toMatchObject({ errorCode: 'CONNECTION_FAILED' });
  expect(requests).toHaveLength(2);
});
