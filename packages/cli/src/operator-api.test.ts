// Tests that a response that breaks off is a failed connection.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createOperatorApi } from './operator-api.ts';

test('a response that breaks off is a failed connection', async () => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-length': 1000 });
    response.write('{"success":true', () => response.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { signal } = new AbortController();
  const reading = createOperatorApi({ url, operatorKey: 'secret', signal }).get('/providers');
  await expect(reading).rejects.toMatchObject({ errorCode: 'CONNECTION_FAILED' });
  server.close();
});
