// A back end keeps collections of an owner with the command line.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAssets } from '../../support/assets/collections.ts';
import { runCli } from '../../support/service/cli.ts';
import { SECRETS, startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

const run = (...args: string[]) =>
  runCli(['collections', ...args, '--owner', 'ann'], {
    folder: service.dataDir,
    env: { MEDIARY_URL: service.address, MEDIARY_SERVICE_KEY: SECRETS.SERVICE_API_KEY },
  });

async function succeed(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...args);
  expect(code, stderr).toBe(0);
  return stdout;
}

const orderOf = async (id: string) =>
  (await succeed('show', id))
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' ')[0]);

test('collections are created, filled, ordered, listed and deleted', async () => {
  const [a = '', b = '', c = ''] = await openAssets(service, 'ann', 3);
  const created = JSON.parse(await succeed('create', 'Launch week', '--visibility', 'public', '--json'));
  expect(created).toMatchObject({ name: 'Launch week', visibility: 'public', owner_user_id: 'ann' });
  const { id } = created;

  expect(await succeed('add', id, a, b)).toContain('2 assets in the collection');
  await succeed('add', id, c, '--start');
  expect(await orderOf(id)).toEqual([c, a, b]);
  await succeed('move', id, c, '--after', a);
  expect(await orderOf(id)).toEqual([a, c, b]);
  expect(await succeed('remove', id, a, b)).toContain('1 assets in the collection');
  expect(await orderOf(id)).toEqual([c]);

  await succeed('update', id, '--name', 'Talks');
  expect(await succeed('ls')).toMatch(new RegExp(`${id} +1 +public +Talks`));
  expect(await succeed('playlist', id)).toBe('');
  expect(await succeed('delete', id)).toContain('deleted');
  expect((await run('show', id)).code).toBe(4);
});

test('more than one place is a mistake in the command', async () => {
  const { code, stderr } = await run('move', 'x', 'y', '--start', '--after', 'z');
  expect([code, stderr]).toEqual([2, expect.stringContaining('--start, --before and --after')]);
});
