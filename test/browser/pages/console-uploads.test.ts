// Uploads of the console: what is sent, what is left out, and whose uploads the page has.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bombPng } from '../../support/clips/pictures.ts';
import { makeSound } from '../../support/clips/sounds.ts';
import { IMAGE, offer, readAsset } from '../../support/media.ts';
import { launchChromium } from '../../support/playback/browser.ts';
import { expectSound, openConsole, signInAs, signOut } from '../../support/playback/console-page.ts';
import { startTestService, type TestService } from '../../support/service.ts';

const SLOW = { timeout: 60_000 };

let service: TestService;
let browser: Browser;
beforeAll(async () => {
  service = await startTestService({ VIDEO_EXTRAS: 'none' });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await service?.stop();
});

async function writePicture(name: string): Promise<string> {
  const path = join(service.dataDir, name);
  await writeFile(path, bombPng(12, 12));
  return path;
}

test('uploads stay after a session ended, but not for another user nor after a sign-out', async () => {
  const [picture, other] = [await writePicture('one.png'), await writePicture('other.png')];
  const page = await (await browser.newContext()).newPage();
  await page.goto(`${service.address}/console/upload`);
  await signInAs(page, 'ben');
  // The uploads go on until the test ends.
  await page.route('**/media/upload-url*', () => {});
  const rows = () => page.locator('[data-upload]').count();
  const choose = () => page.getByLabel('Files to upload').setInputFiles([picture, other]);
  /** The screen is one that the page has not read yet. */
  const endSession = async (screen: string) => {
    await page.context().clearCookies();
    await page.getByRole('link', { name: screen, exact: true }).click();
    await page.getByText('Your session has ended.').waitFor();
  };
  const openUploads = () => page.getByRole('link', { name: 'Upload', exact: true }).first().click();
  await choose();
  await expect.poll(rows, SLOW).toBe(2);

  await endSession('Library');
  await signInAs(page, 'ben');
  await openUploads();
  await expect.poll(rows, SLOW).toBe(2);

  await endSession('Collections');
  await signInAs(page, 'cleo');
  await openUploads();
  await page.getByLabel('Files to upload').waitFor({ state: 'attached' });
  expect(await rows()).toBe(0);

  await choose();
  await expect.poll(rows, SLOW).toBe(2);
  await signOut(page);
  await signInAs(page, 'cleo');
  await page.getByLabel('Files to upload').waitFor({ state: 'attached' });
  expect(await rows()).toBe(0);
  await page.context().close();
});

test('a folder and a URL are uploaded in rows that show why one failed', async () => {
  const opened = await openConsole({ browser, service }, 'phone', 'light');
  const { page, faults } = opened;
  await page.goto(`${service.address}/console/upload`);
  const picture = await writePicture('one.png');
  const note = join(service.dataDir, 'note.txt');
  await writeFile(note, 'not media');
  await page.getByLabel('Files to upload').setInputFiles([picture, note]);
  await page.getByText('1 file was left out: neither image, video nor audio.').waitFor();
  await page.getByText('1 of 1 sent').waitFor();
  await page.getByLabel('Files to upload').setInputFiles(await makeSound());
  await page.getByText('2 of 2 sent').waitFor(SLOW);
  await page.getByText(/left out/).waitFor({ state: 'detached' });
  await page.getByLabel('URLs').fill('http://169.254.169.254/one.png');
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await page.getByText(/address is not public/).waitFor();
  expect(faults.splice(0).join()).toMatch(/400/);
  await expectSound(opened);
  await page.context().close();
});

test('an asset whose bytes were rejected gets another file, which the page asks for', async () => {
  const { id } = await offer(service, 'ann', { bytes: Buffer.from('no picture'), fields: IMAGE });
  expect(await readAsset(service, 'ann', id)).toMatchObject({ failure: { code: 'type_mismatch' } });
  const opened = await openConsole({ browser, service }, 'desk', 'light');
  const { page } = opened;
  await page.goto(`${service.address}/console/assets/${id}`);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('The service needs the file again').waitFor();
  await expectSound(opened);
  const chooser = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Choose the file' }).click();
  await (await chooser).setFiles(await writePicture('repaired.png'));
  await page.getByText('The service needs the file again').waitFor({ state: 'detached' });
  const status = async () => (await readAsset(service, 'ann', id)).stream_status;
  await expect.poll(status, SLOW).toBe('ready');
  await page.getByText('Nothing is pending.').waitFor();
  await expectSound(opened);
  await page.context().close();
});
