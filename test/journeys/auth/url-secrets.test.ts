// Changes between the generated URL secret and URL_SIGNING_SECRET keep URLs and endpoint secrets valid.
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { IMAGE, openUpload, putBytes, type Started } from '../../support/media.ts';
import {
  asService,
  asUser,
  call,
  eventually,
  startTestService,
  type TestService,
} from '../../support/service.ts';
import { newDatabaseDir } from '../../support/service/data-folders.ts';
import { rows } from '../../support/service/traces.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/http/webhook-receiver.ts';

const URL_SIGNING_SECRET = 'url-secret-of-a-setting-0123456789-0123';
const PATH = '/events';

let dataDir: string;
let service: TestService;
let receiver: WebhookReceiver;

async function restart(settings: Readonly<Record<string, string>>): Promise<void> {
  await service?.stop();
  service = await startTestService({ DATA_DIR: dataDir, OUTBOUND_ALLOW_PRIVATE: 'webhooks', ...settings });
}
beforeAll(async () => {
  dataDir = await newDatabaseDir();
  receiver = await startWebhookReceiver();
  await restart({});
  const json = { url: receiver.url(PATH) };
  expect((await call(service, 'POST /webhook-endpoints', { headers: asService, json })).status).toBe(200);
});
afterAll(async () => {
  await service?.stop();
  await receiver?.stop();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

const open = () => openUpload(service, 'ann', IMAGE);
/** The status of a PUT to the URL that an earlier process signed. */
async function putTo(started: Started): Promise<number> {
  const { pathname, search } = new URL(started.upload_url as string);
  const answer = await putBytes(
    { ...started, upload_url: `${service.address}${pathname}${search}` },
    Buffer.alloc(10),
  );
  return answer.status;
}
const countUpdates = (): number =>
  receiver.received(PATH).filter(({ message }) => message.type === 'asset.updated').length;
/** Edits the asset and waits for the event, whose signature needs the secret of the endpoint. */
async function expectDelivered({ asset_id: id }: Started, title: string): Promise<void> {
  const before = countUpdates();
  const edited = await call(service, `PATCH /media/${id}`, { headers: asUser('ann'), json: { title } });
  expect(edited.status).toBe(200);
  await eventually(
    async () => countUpdates(),
    (count) => count > before,
    { withinMs: 120_000 },
  );
}

test('URL_SIGNING_SECRET set for the first time, and unset again', async () => {
  const [beforeIt, wellBeforeIt] = [await open(), await open()];
  await restart({ URL_SIGNING_SECRET });
  expect(await putTo(beforeIt)).toBe(200);
  const signedByIt = await open();
  await expectDelivered(signedByIt, 'set');

  await restart({ URL_SIGNING_SECRET_PREVIOUS: URL_SIGNING_SECRET });
  expect(await putTo(signedByIt)).toBe(200);
  await expectDelivered(signedByIt, 'unset');

  await restart({});
  expect(await putTo(wellBeforeIt)).toBe(200);
  await expectDelivered(signedByIt, 'forgotten');
});

test('a deleted stored secret is not accepted and not generated again beside the setting', async () => {
  const [first, second] = [await open(), await open()];
  await restart({ URL_SIGNING_SECRET });
  expect(await putTo(first)).toBe(200);
  await expectDelivered(first, 'sealed again');
  await rows(dataDir, "delete from secrets where name = 'url_signing'");
  await restart({ URL_SIGNING_SECRET });
  expect(await putTo(second)).toBe(401);
  await expectDelivered(first, 'without the stored secret');
  expect(await rows(dataDir, 'select * from secrets')).toEqual([]);
});
