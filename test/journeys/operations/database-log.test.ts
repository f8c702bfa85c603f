// The log of the database server contains no values of failed statements (security F3, F4).
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectRefusal } from '../../support/http/envelope.ts';
import { openUpload, VIDEO } from '../../support/media.ts';
import { asService, call, SECRETS, startTestService, type TestService } from '../../support/service.ts';
import { rows } from '../../support/service/traces.ts';
import { linkVideo } from '../../support/providers/webhooks.ts';

const WORDS = {
  filename: 'planted-filename.mp4',
  title: 'planted-title',
  metadata: { note: 'planted-metadata' },
};
const TAKEN = { provider: 'cdnhost', provider_video_id: 'planted-video-id' } as const;

const died = Promise.withResolvers<Error>();
let service: TestService;
beforeAll(async () => {
  service = await startTestService(
    { MEDIARY_ROLE: 'api', LOG_LEVEL: 'silent' },
    { onDatabaseExit: died.resolve, ownsServer: true },
  );
});
afterAll(() => service?.stop());

/** Broken rules, broken statements, and values that the server itself would quote. */
async function failures(): Promise<void> {
  await openUpload(service, 'ann', WORDS);
  await linkVideo(service, TAKEN);
  expectRefusal(
    await call(service, 'POST /media/upload-url?expand=asset', {
      headers: asService,
      json: { ...VIDEO, ...WORDS, ...TAKEN, owner_user_id: 'ann' },
    }),
    409,
  );
  for (const [statement, values] of [
    ['select 1 / 0 from secrets where value = $1', [SECRETS.SERVICE_API_KEY]],
    ['select $1::uuid', [WORDS.filename]],
    ['insert into assets (id, title) values ($1, $2)', [crypto.randomUUID(), WORDS.title]],
    [`select nothing from secrets where value = '${SECRETS.OPERATOR_KEY}'`, []],
    [`do $$ begin raise exception '${WORDS.metadata.note}'; end $$`, []],
  ] as const)
    await expect(rows(service.dataDir, statement, [...values])).rejects.toThrow();
}

test('the log of a crashing server contains no values of failed statements', async () => {
  await failures();
  process.kill(
    Number.parseInt(await readFile(join(service.dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10),
    'SIGKILL',
  );
  const { message } = await died.promise;
  expect(message).toContain('ready to accept connections');
  expect(message.length).toBeLessThan(4000); // Its whole log, not a part.
  for (const words of [
    ...Object.values(SECRETS),
    'planted',
    'ERROR',
    'STATEMENT',
    'DETAIL',
    'insert',
    'select',
  ])
    expect(message).not.toContain(words);
});
