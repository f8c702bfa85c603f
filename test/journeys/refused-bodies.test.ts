// A body that is refused while it is still sent: clients read the response (contract B2). test/clients does
// the same with other clients.
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  REFUSED,
  type RefusingService,
  runClient,
  startRefusingService,
  TRIES,
} from '../support/refused-bodies.ts';

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

test.each(REFUSED)('fetch reads the response to %s each time', async (name) => {
  const { status } = refusing.refusals[name];
  expect(await runClient(process.execPath, ['-e', FETCH, refusing.toArgument(name)])).toEqual(
    Array.from({ length: TRIES }, () => String(status)),
  );
});
