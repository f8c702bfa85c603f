// Tests what responses of an operator's encoder mean.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toSecret } from '../../auth/secret.ts';
import { createVideo } from '../../lifecycle/asset.fixture.ts';
import { createSettings } from '../../platform/settings/read-settings.ts';
import { openEncoderApi } from './onprem-api.ts';
import { readOnpremSettings } from './onprem-provider.ts';

type Canned = { readonly status: number; readonly location?: string; readonly body?: string };
let canned: Canned;
let server: Server;
let url: string;
beforeAll(async () => {
  server = createServer((request, response) => {
    const { status, location, body } = canned;
    request.resume();
    response.writeHead(status, location === undefined ? {} : { location }).end(body);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
});

const start = (response: Canned) => {
  canned = response;
  return openEncoderApi({ url: `${url}/jobs`, secret: toSecret('secret'), heartbeatMs: 1000 }).start({
    asset: createVideo(),
    sourceUrl: 'http://source.example/',
    callbackUrl: 'http://callback.example/',
    deadline: new Date(),
  });
};

test.each([200, 202, 409])('%i accepts the job', async (status) => {
  expect(await start({ status })).toEqual({ jobUrl: null });
});

test('the URL of the job is used on the origin of the encoder only', async () => {
  expect(await start({ status: 201, location: '/jobs/7' })).toEqual({ jobUrl: `${url}/jobs/7` });
  for (const location of ['http://other.example/7', `${url.replace('//', '//user@')}/7`, 'http://'])
    expect(await start({ status: 201, location })).toEqual({ jobUrl: null });
});

test.each([
  [{ status: 422, body: '{"message":"too long"}' }, /status 422: too long$/],
  [{ status: 400, body: '{"error":"no codec"}' }, /status 400: no codec$/],
  [{ status: 403, body: '<html>' }, /status 403$/],
  [{ status: 301, location: '/elsewhere' }, /ONPREM_ENCODER_URL must be its final URL/],
])('%j refuses it', async (response, reason) => {
  expect(await start(response)).toEqual({ refused: expect.stringMatching(reason) });
});

test('its reason is cut between characters, because no column stores half of one', async () => {
  const message = `${'x'.repeat(299)}🎬`;
  const answer = await start({ status: 422, body: JSON.stringify({ message }) });
  expect(answer).toEqual({ refused: expect.stringMatching(/: x{299}\ufffd$/) });
});

test.each([408, 425, 429, 500, 503])('%i is retried', async (status) => {
  await expect(start({ status })).rejects.toThrow(`status ${status}`);
});

test('ONPREM_ENCODER_URL needs the secret that signs its jobs', () => {
  const settings = createSettings({ ONPREM_ENCODER_URL: 'http://encoder.example' });
  readOnpremSettings(settings);
  expect(settings.problems).toEqual([expect.stringContaining('ONPREM_WEBHOOK_SECRET must be set')]);
});
