// Clients that others wrote read the response to a body that is refused while it is still sent.
// With TEST_NGINX=1 they send it through nginx.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  REFUSED,
  type RefusingService,
  runClient,
  startRefusingService,
  TRIES,
} from '../support/http/refused-bodies.ts';

let refusing: RefusingService;
beforeAll(async () => {
  refusing = await startRefusingService();
});
afterAll(() => refusing?.service.stop());

type Name = (typeof REFUSED)[number];
type Send = (name: Name) => Promise<readonly string[]>;

const byProgram =
  (client: string): Send =>
  (name) =>
    runClient(process.execPath, [
      join(import.meta.dirname, 'programs/refused-body.ts'),
      client,
      refusing.toArgument(name),
    ]);

const byCurl: Send = async (name) => {
  const { method, url, headers } = refusing.refusals[name];
  const lines = Object.entries(headers).flatMap(([header, value]) => ['-H', `${header}: ${value}`]);
  const options = ['-sS', '-o', '/dev/null', '-w', '%{http_code}\\n', '-X', method, '--data-binary'];
  const args = [...options, `@${refusing.bodyFile}`, ...lines, url];
  const seen: string[] = [];
  while (seen.length < TRIES) seen.push(...(await runClient('curl', args)));
  return seen;
};

/** Both send the whole body before they read. */
const byPython =
  (module: string): Send =>
  (name) =>
    runClient('python3', [
      join(import.meta.dirname, 'programs/refused-body.py'),
      module,
      refusing.toArgument(name),
    ]);

const CLIENTS: Readonly<Record<string, Send>> = {
  fetch: byProgram('fetch'),
  undici: byProgram('undici'),
  axios: byProgram('axios'),
  curl: byCurl,
  "Python's http.client": byPython('http.client'),
  "Python's requests": byPython('requests'),
};

describe.each(Object.entries(CLIENTS))('%s', (_client, send) => {
  test.each(REFUSED)('reads the response to %s each time', async (name) => {
    const { status } = refusing.refusals[name];
    expect(await send(name)).toEqual(Array.from({ length: TRIES }, () => String(status)));
  });
});
