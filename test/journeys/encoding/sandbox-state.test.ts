// Operators see the active protections of the sandbox; other callers see only whether the service is ready.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PROTECTIONS } from '../../../service/src/platform/process/sandbox.ts';
import { expectSuccess } from '../../support/http/envelope.ts';
import { asOperator, call, startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api' });
});
afterAll(() => service.stop());

const READY = { database: 'ok', store: null, queue: null, worker_count: 0 };
const readyz = (headers: Record<string, string>) =>
  call(service, `GET ${service.address}/readyz`, { headers }).then(expectSuccess);

test('an operator sees each protection', async () => {
  const { sandbox, ...rest } = (await readyz(asOperator)) as { sandbox: Record<string, boolean> };
  expect(rest).toEqual({ ...READY, workers: [] });
  expect(Object.keys(sandbox).sort()).toEqual(Object.keys(PROTECTIONS).sort());
  expect(sandbox['limits']).toBe(true);
});

test('other callers do not', async () => {
  expect(await readyz({})).toEqual(READY);
  expect(await readyz({ 'x-operator-key': 'wrong' })).toEqual(READY);
});
