// An editor and a developer work in the console: edit, caption, clip, bulk changes, webhooks of both kinds.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bombPng } from '../../support/clips/pictures.ts';
import { makeClip } from '../../support/clips/clips.ts';
import { expectSuccess } from '../../support/http/envelope.ts';
import { startWebhookReceiver, status, type WebhookReceiver } from '../../support/http/webhook-receiver.ts';
import { type AssetJson, IMAGE, ingest, offer, readAsset } from '../../support/media.ts';
import { launchChromium } from '../../support/playback/browser.ts';
import { expectSound, type OpenedConsole, openConsole } from '../../support/playback/console-page.ts';
import { replaysOf } from '../../support/providers/replays.ts';
import { asOperator, asService, call, startTestService, type TestService } from '../../support/service.ts';

const SLOW = { timeout: 60_000 };
/** Of a name that a file may have: 255 code points, right to left, with an emoji. */
const LONG_NAME = `${'مرحبا'.repeat(20)} 🎬 ${'x'.repeat(148)}.png`;

let service: TestService;
let receiver: WebhookReceiver;
let browser: Browser;
let video: AssetJson;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  service = await startTestService({
    VIDEO_EXTRAS: 'none',
    OUTBOUND_ALLOW_PRIVATE: 'webhooks',
    WEBHOOK_ENDPOINT_RETRIES_S: '3600',
  });
  const file = await makeClip({ seconds: 3, width: 320, height: 180 });
  [browser, video] = await Promise.all([launchChromium(), ingest(service, 'ann', { file })]);
});
afterAll(async () => {
  await browser?.close();
  await service?.stop();
  await receiver?.stop();
});

const replays = replaysOf(() => service);

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true }).first();

async function editCaptions(opened: OpenedConsole): Promise<void> {
  const { page } = opened;
  await page.getByRole('tab', { name: 'Captions' }).click();
  await button(page, 'Add captions').click();
  const captions = join(service.dataDir, 'talk.pt-BR.vtt');
  await writeFile(captions, 'WEBVTT\n\n00:00.000 --> 00:02.000\nOlá\n');
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('dialog').getByText('Choose a file').click();
  await (await chooser).setFiles(captions);
  await expect.poll(() => page.getByLabel('Language').inputValue(), SLOW).toBe('pt-BR');
  await expectSound(opened);
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: /^Change português/ }).click();
  await page.getByLabel('Language').fill('pt-PT');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByText('pt-PT', { exact: true }).waitFor();
  await expect.poll(() => page.getByText('pt-BR', { exact: true }).count(), SLOW).toBe(0);
  await page.getByRole('button', { name: /^Delete português/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No captions yet.').waitFor();
}

async function editChapters(opened: OpenedConsole): Promise<void> {
  const { page } = opened;
  await page.getByRole('tab', { name: 'Chapters' }).click();
  await page.getByText('The video has no chapters.').waitFor();
  const lines = page.getByRole('textbox', { name: 'Chapters' });
  await lines.fill('0:00 Hello\nThe end');
  await button(page, 'Save').click();
  await page.getByText('Line 2 must be').waitFor();
  await lines.fill('0:00 Hello\n0:02 The end\n0:09 Nothing');
  await button(page, 'Save').click();
  await page.getByText('chapters.2.start_ms must be less than').waitFor();
  expect(opened.faults.splice(0).join()).toMatch(/400/);
  await expectSound(opened);
  await lines.fill('0:00 Hello\n\n0:02.500 <b>The end</b>');
  await button(page, 'Save').click();
  await page.getByText('The video has 2 chapters.').waitFor();
  await expect.poll(() => lines.inputValue(), SLOW).toBe('0:00 Hello\n0:02.500 <b>The end</b>');
}

async function choosePoster(page: Page): Promise<void> {
  await page.getByRole('tab', { name: 'Poster' }).click();
  await page.getByRole('slider', { name: 'Time of the poster' }).focus();
  await page.keyboard.press('ArrowRight');
  await button(page, /^Use the frame at/).click();
  await page.getByText(/^The poster is the frame at/).waitFor();
  await button(page, 'Let the service choose').click();
  await page.getByText('The service chose the poster.').waitFor();
}

async function cutClip(page: Page): Promise<void> {
  await page.getByRole('tab', { name: 'Clip' }).click();
  await page.getByRole('slider', { name: 'End of the clip' }).focus();
  for (let step = 0; step < 10; step += 1) await page.keyboard.press('ArrowLeft');
  await page.getByLabel('Title of the clip').fill('The waves');
  await button(page, /^Create a clip of 0:02/).click();
  await page.getByRole('heading', { name: 'The waves' }).waitFor();
}

test('an editor changes, captions and cuts a video, and sees what others change at once', async () => {
  const opened = await openConsole({ browser, service }, 'desk', 'light');
  const { page } = opened;
  await page.goto(`${service.address}/console/assets/${video.id}`);
  const title = 'Harbour <b>';
  await page.getByLabel('Title').fill(title);
  await page.getByLabel('Tags').first().fill('at sea');
  await page.getByLabel('Tags').first().press('Enter');
  await button(page, 'Save').click();
  await page.getByText('Saved.').waitFor();
  await page.getByRole('heading', { name: title }).waitFor();
  expect((await readAsset(service, 'ann', video.id))['tags']).toContain('at sea');

  await editCaptions(opened);
  await editChapters(opened);
  await choosePoster(page);

  // Somebody else changes the title: the page shows it without a reload.
  expectSuccess(
    await call(service, `PATCH /media/${video.id}`, {
      headers: asService,
      json: { owner_user_id: 'ann', title: 'By others' },
    }),
  );
  await page.getByRole('heading', { name: 'By others' }).waitFor();

  await cutClip(page);
  await page.getByText('Nothing is pending.').waitFor();
  await page.getByRole('tab', { name: 'Embed' }).click();
  await page.getByText('<iframe src=').waitFor();
  await expectSound(opened);
  await page.context().close();
});

test('many assets are tagged, thrown away and restored, and failures are named', async () => {
  const ids: string[] = [];
  const fields = { ...IMAGE, filename: LONG_NAME };
  for (const side of [8, 9, 10])
    ids.push((await offer(service, 'cleo', { bytes: bombPng(side, 8), fields })).id);
  const opened = await openConsole({ browser, service }, 'desk', 'light');
  const { page } = opened;
  await page.goto(`${service.address}/console/library?owner=cleo`);
  const choices = page.locator('.tile-choice');
  await expect.poll(() => choices.count(), SLOW).toBe(3);
  await choices.first().focus();
  await page.keyboard.press('Space');
  await choices.nth(2).click({ modifiers: ['Shift'] });
  await page.getByText('3 selected').waitFor();
  await expectSound(opened);
  await button(page, 'Tag').click();
  await page.getByLabel('Add', { exact: true }).first().fill('spring');
  await page.getByLabel('Add', { exact: true }).first().press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByText('3 of 3 assets were tagged.').waitFor();
  expect((await readAsset(service, 'cleo', ids[1] ?? ''))['tags']).toEqual(['spring']);

  await choices.first().click();
  await button(page, /^Select all 3/).click();
  const held = { headers: asOperator, json: { owner_user_id: 'cleo' } };
  expectSuccess(await call(service, `PUT /admin/media/${ids[0]}/legal-hold`, held));
  await button(page, 'Move to the trash').click();
  await page.getByText('2 of 3 assets were moved to the trash. 1 failed').waitFor();
  await page.getByText(/legal hold/).waitFor();
  await expect.poll(() => choices.count(), SLOW).toBe(1);
  // A refused request is an error of the browser too; it is what the test wants.
  expect(opened.faults.splice(0).join()).toMatch(/409/);
  await expectSound(opened);

  await page.getByRole('switch', { name: 'Trash' }).press('Space');
  await expect.poll(() => choices.count(), SLOW).toBe(2);
  await choices.first().click();
  await button(page, /^Select all 2/).click();
  await button(page, 'Restore').click();
  await page.getByText('2 of 2 assets were restored.').waitFor();
  expect(opened.faults).toEqual([]);
  await page.context().close();
});

test('an operator tries the replay of a lost report, applies it, and resends an event', async () => {
  const lost = await replays.readyVideo();
  const opened = await openConsole({ browser, service }, 'desk', 'light');
  const { page } = opened;
  await replays.putBack(lost.id);
  await page.goto(`${service.address}/console/webhooks?asset_id=${lost.id}`);
  await page.locator('.row-link').first().click();
  await button(page, 'Replay').click();
  await page.getByText('processing → ready.').waitFor();
  expect(await replays.read(lost.id)).toMatchObject({ stream_status: 'processing' });
  await page.getByText('"status":"ready"').waitFor();
  await expectSound(opened);
  await button(page, 'Apply 1 change').click();
  await page.getByText('1 webhook, 1 changed an asset.').waitFor();
  expect(await replays.read(lost.id)).toMatchObject({ stream_status: 'ready' });

  receiver.respond('/hook', status(500, {}, 'not today'));
  await page.goto(`${service.address}/console/webhooks/endpoints`);
  await button(page, 'Create an endpoint').click();
  await page.getByLabel('URL').fill(receiver.url('/hook'));
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
  await page.getByText(/^whsec_/).waitFor();
  await button(page, 'Done').click();
  await page.locator('.row-link', { hasText: '/hook' }).click();
  await button(page, 'Send a test event').click();
  await page.getByText('The endpoint did not accept the test event').waitFor();
  expectSuccess(
    await call(service, `PATCH /media/${lost.id}`, {
      headers: asService,
      json: { owner_user_id: 'ann', title: 'Told to all' },
    }),
  );
  await page.locator('[data-delivery="pending"]').first().waitFor();
  receiver.respond('/hook', status(204));
  await button(page, 'Send now asset.updated').click();
  await page.locator('[data-delivery="delivered"]').first().waitFor();
  await expectSound(opened);
  await button(page, 'Delete').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.waitForURL(/\/webhooks\/endpoints$/);
  await page.context().close();
});

test('every screen fits on a phone in dark colours', async () => {
  const { id } = await replays.readyVideo();
  const opened = await openConsole({ browser, service }, 'phone', 'dark');
  const { page } = opened;
  await page.goto(`${service.address}/console/assets/${video.id}`);
  for (const tab of ['Captions', 'Chapters', 'Clip']) {
    await page.getByRole('tab', { name: tab }).click();
    await page.getByText('Nothing is pending.').waitFor();
    await expectSound(opened);
  }
  await page.goto(`${service.address}/console/library?owner=cleo`);
  await page.locator('.tile-choice').first().press('Space');
  await page.getByText('1 selected').waitFor();
  await expectSound(opened);
  await page.goto(`${service.address}/console/webhooks?asset_id=${id}`);
  await page.locator('.row-link').first().waitFor();
  await expectSound(opened);
  await page.locator('.row-link').first().click();
  await button(page, 'Replay').click();
  await page.getByText('Nothing would change.').waitFor();
  await expectSound(opened);
  await page.goto(`${service.address}/console/webhooks/endpoints`);
  await page.getByText('No endpoints yet').waitFor();
  await expectSound(opened);
  await page.context().close();
});
