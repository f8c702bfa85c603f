// A body that is refused while it is still sent: clients read the response (contract B2). test/clients does
// the same with other clients.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { unavailable } from '../../../service/src/platform/http/errors.ts';
import {
  REFUSED,
  type RefusingService,
  runClient,
  startRefusingService,
  TRIES,
} from '../../support/http/refused-bodies.ts';

let refusing: RefusingService;
beforeAll(async () => {
  refusing = await startRefusingService();
});
afterAll(() => refusing?.service.stop());

const FETCH = `
const [method, url, headers, path, tries] = JSON.parse(process.argv[1]);
const body = require('node:fs').readFileSync(path);
(async () => {
  for (let tried = 0; tried < tries; tried += 1)
    await fetch(url, { method, headers, body })
      .then(({ status }) => console.log(status), ({ cause }) => console.log(cause));
})();
`;

const expectRead = async (name: (typeof REFUSED)[number], status: number) =>
  expect(await runClient(process.execPath, ['-e', FETCH, refusing.toArgument(name)])).toEqual(
    Array.from({ length: TRIES }, () => String(status)),
  );

test.each(REFUSED)('fetch reads the response to %s each time', async (name) => {
  await expectRead(name, refusing.refusals[name].status);
});

test('fetch reads the 503 to a PUT while the database is not available', async () => {
  const { db } = refusing.service.adapters;
  const { all, one } = db;
  const fail = () => Promise.reject(unavailable('The database is not available', new Error('planned')));
  Object.assign(db, { all: fail, one: fail });
  await expectRead('a PUT of other bytes', 503).finally(() => Object.assign(db, { all, one }));
});
