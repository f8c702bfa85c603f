// An operator cancels an encode, runs a failed job again, checks the storage, erases an owner, makes and
// revokes a key, and reaches all of it by keyboard; nobody else sees these screens.
import { readFile } from 'node:fs/promises';
import type { Browser, Locator, Page } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeClip, pacedEngine } from '../../support/clips/clips.ts';
import { startWebhookReceiver, status, type WebhookReceiver } from '../../support/http/webhook-receiver.ts';
import { complete, IMAGE, offer, openUpload, putBytes, readAsset, settled } from '../../support/media.ts';
import { launchChromium } from '../../support/playback/browser.ts';
import { expectSound, type OpenedConsole, openConsole } from '../../support/playback/console-page.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../../support/service.ts';
import { jobOf, listJobs } from '../../support/service/jobs.ts';
import { rows } from '../../support/service/traces.ts';

const LONG_NAME = `${'ملف 🌊 '.repeat(40).trim()}.mp4`;
const ODD_OWNER = '../a?b=c&d=100%25#e <i>';

let service: TestService;
let browser: Browser;
let cdn: WebhookReceiver;
beforeAll(async () => {
  cdn = await startWebhookReceiver();
  service = await startTestService({
    FFMPEG_PATH: await pacedEngine(),
    CDN_PURGE_URL: cdn.url('/purge'),
  });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await service?.stop();
  await cdn?.stop();
});

const closeConsole = ({ page }: OpenedConsole) => page.context().close();

const openAddress = (page: Page, path: string) => page.goto(`${service.address}/console${path}`);

const rowOf = (page: Page, table: string, text: string): Locator =>
  page.getByLabel(table, { exact: true }).getByRole('row').filter({ hasText: text });

const dialogButton = (page: Page, name: string): Locator =>
  page.getByRole('dialog').getByRole('button', { name, exact: true });

async function storePicture(owner: string): Promise<string> {
  const green = { width: 64, height: 64, channels: 3, background: '#0a7' } as const;
  const bytes = await sharp({ create: green }).png().toBuffer();
  const { id } = await offer(service, owner, { bytes, fields: { ...IMAGE, visibility: 'public' } });
  await settled(service, owner, id);
  return id;
}

/** A job that has no run left, because the CDN is broken. */
async function failPurge(): Promise<void> {
  cdn.respond('/purge', status(500));
  const id = await storePicture('ann');
  await call(service, `DELETE /media/${id}`, { headers: asUser('ann') });
  const { id: jobId } = await jobOf(service, id, 'delayed');
  const last = 'update pgboss.job set retry_limit = retry_count, start_after = now() where id = $1';
  await rows(service.dataDir, last, [jobId]);
  await jobOf(service, id, 'failed');
}

test('work: an encode is cancelled, and a failed job runs again', async () => {
  await failPurge();
  const film = await readFile(await makeClip({ seconds: 60 }));
  const started = await openUpload(service, 'ann', { filename: LONG_NAME });
  await putBytes(started, film);
  await complete(service, 'ann', started.asset_id);
  const opened = await openConsole({ browser, service }, 'desk', 'dark');
  const { page } = opened;
  await openAddress(page, '/work');
  await rowOf(page, 'Encodes', 'ann').getByRole('progressbar').waitFor();
  await rowOf(page, 'Processes', 'live').waitFor();
  await expectSound(opened);
  await page.getByRole('button', { name: 'Cancel the encode of' }).click();
  await dialogButton(page, 'Cancel the encode').click();
  await page.getByText('No encode runs or waits.').waitFor();
  expect(await readAsset(service, 'ann', started.asset_id)).toMatchObject({
    failure: { code: 'cancelled' },
  });

  const failed = rowOf(page, 'Jobs', 'purge-cdn');
  await failed.getByText('CDN_PURGE_URL:').waitFor();
  cdn.respond('/purge', status(204));
  await failed.getByRole('button', { name: 'Run again' }).click();
  await page.getByText('purge-cdn runs again.').waitFor();
  await page.getByText('No job has failed for good.').waitFor();
  await eventually(
    () => listJobs(service),
    (jobs) => jobs.length === 0,
  );
  await closeConsole(opened);
});

test('health: charts of the samples, and a storage check with its result', async () => {
  await rows(
    service.dataDir,
    `insert into samples (host, at, values)
     select '', date_trunc('minute', now()) - i * interval '10 minutes',
            jsonb_build_object('bytes_stored', i * 1000000, 'queue_waiting', i)
       from generate_series(1, 100) i`,
  );
  const opened = await openConsole({ browser, service }, 'phone', 'light');
  const { page } = opened;
  await openAddress(page, '/health');
  await page.getByRole('figure').filter({ hasText: 'Bytes of all owners' }).locator('svg').waitFor();
  await page.getByRole('button', { name: /^Show \d+ other checks$/ }).click();
  await page.getByText('database.migrations').waitFor();
  await rowOf(page, 'Providers', 'onprem').getByText('Set up').waitFor();
  await page.getByRole('button', { name: 'Start a check' }).click();
  await dialogButton(page, 'Start').click();
  await rowOf(page, 'Storage checks', 'done').getByText('No finding').waitFor();
  await expectSound(opened);
  await closeConsole(opened);
});

/** Chooses the saved archive, and sends it. */
async function importArchive(page: Page, path: string): Promise<void> {
  const saved = { name: 'dora.tar', mimeType: 'application/x-tar', buffer: await readFile(path) };
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('button', { name: 'Archive', exact: true }).click(),
  ]);
  await chooser.setFiles(saved);
  await page.getByRole('button', { name: 'Import the archive' }).click();
}

test('owners: limits, the archive, an erasure with its receipt, and an import', async () => {
  await storePicture('dora');
  const opened = await openConsole({ browser, service }, 'phone', 'dark');
  const { page } = opened;
  await openAddress(page, '/owners');
  await page.getByLabel('Search owners').fill(ODD_OWNER);
  await page.getByRole('link', { name: `Open the page of ${ODD_OWNER}` }).click();
  await page.getByRole('heading', { name: ODD_OWNER }).waitFor();
  await page.getByText('Limits', { exact: true }).waitFor();
  await openAddress(page, '/owners?owner=dora');
  await page.getByRole('combobox', { name: 'Assets' }).click();
  await page.getByRole('option', { name: 'A limit of its own' }).click();
  await page.getByLabel('Assets: limit').fill('7');
  await page.getByRole('button', { name: 'Save the limits' }).click();
  await page.getByText('1 of 7').waitFor();
  const [archive] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save the archive' }).click(),
  ]);
  expect(archive.suggestedFilename()).toBe('dora.tar');
  expect(await readFile(await archive.path(), 'latin1')).toContain('manifest.json');

  await page.getByRole('button', { name: 'Erase this owner' }).click();
  await page.getByLabel('Type the id of the owner').fill('dor');
  expect(await dialogButton(page, 'Erase everything').isDisabled()).toBe(true);
  await page.getByLabel('Type the id of the owner').fill('dora');
  await expectSound(opened);
  await dialogButton(page, 'Erase everything').click();
  await page.getByText('Everything is removed').waitFor();
  const [receipt] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save the receipt' }).click(),
  ]);
  const lines = (await readFile(await receipt.path(), 'utf8')).trim().split('\n');
  expect(JSON.parse(lines.at(-1) ?? '')).toHaveProperty('signature');

  await importArchive(page, await archive.path());
  await page.getByText('1 imported, 0 already there, 0 refused').waitFor();
  await page.getByText('The import is complete.').waitFor();
  await expectSound(opened);
  await closeConsole(opened);
});

test('keys: a new key works, is shown once, and is refused after it is revoked', async () => {
  const read = (key: string) =>
    call(service, 'GET /media?owner_user_id=ann', { headers: { 'x-service-key': key } });
  const opened = await openConsole({ browser, service }, 'desk', 'light');
  const { page } = opened;
  await openAddress(page, '/keys');
  await page.getByText('No named key yet').waitFor();
  await page.getByRole('button', { name: 'Create a key' }).click();
  await page.getByLabel('Name').fill('billing');
  await dialogButton(page, 'Create').click();
  const key = (await page.getByRole('region', { name: 'the key' }).textContent()) ?? '';
  await expectSound(opened);
  expect((await read(key)).status).toBe(200);
  await page.getByRole('button', { name: 'I have copied it' }).click();
  await rowOf(page, 'Service keys', 'billing')
    .getByText(`ends with ${key.slice(-4)}`)
    .waitFor();
  expect(await page.content()).not.toContain(key);
  await page.getByRole('button', { name: 'Revoke billing' }).click();
  await dialogButton(page, 'Revoke the key').click();
  await page.getByText('No named key yet').waitFor();
  expect((await read(key)).status).toBe(401);
  await closeConsole(opened);
});

describe('the palette', () => {
  test('opens screens and assets, changes the colours and signs out, by keyboard alone', async () => {
    const { asset_id: id } = await openUpload(service, 'ann', { title: 'Sunset over the sea 🌅' });
    const opened = await openConsole({ browser, service }, 'desk', 'light');
    const { page } = opened;
    await openAddress(page, '/library');
    await page.getByRole('heading', { name: 'Library' }).waitFor();
    const choose = async (text: string, name: string) => {
      await page.keyboard.press('Control+K');
      await page.getByLabel('Search screens and assets').fill(text);
      await page.locator('[data-action][data-selected]').filter({ hasText: name }).waitFor();
      await page.keyboard.press('Enter');
    };
    await page.keyboard.press('Control+K');
    await page.getByLabel('Search screens and assets').waitFor();
    await expectSound(opened);
    await page.keyboard.press('Escape');
    await choose('heal', 'Health');
    await page.getByRole('heading', { name: 'Health' }).waitFor();
    await choose('sunset', 'Sunset over the sea');
    await page.getByRole('heading', { name: 'Sunset over the sea' }).waitFor();
    await choose('work', 'Work');
    await page.getByRole('heading', { name: 'Work' }).waitFor();
    await choose(id, 'Open the asset');
    await page.getByRole('heading', { name: 'Sunset over the sea' }).waitFor();
    await choose('dark', 'Dark colours');
    await page.locator('html[data-mantine-color-scheme=dark]').waitFor();
    await choose('sign', 'Sign out');
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
    await closeConsole(opened);
  });
});

test('a user finds no screen of operators, and its address says why', async () => {
  const page = await (await browser.newContext()).newPage();
  await openAddress(page, '/work');
  await page.getByText('Access token').click();
  await page.locator('input[type=password]').fill(asUser('ben').authorization.replace('Bearer ', ''));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Only for operators').waitFor();
  const screens = await page.getByLabel('Screens').getByRole('link').allInnerTexts();
  expect(screens).not.toContain('Work');
  expect(screens).toContain('Library');
  await page.context().close();
});
