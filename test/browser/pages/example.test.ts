// The example of the README: a page uploads with a progress bar, follows events and plays, in Chromium.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../../support/playback/browser.ts';
import { makeClip } from '../../support/clips/clips.ts';
import { freePort } from '../../support/http/free-port.ts';
import { SECRETS, startTestService, type TestService } from '../../support/service.ts';
import { newDataDir } from '../../support/service/data-folders.ts';

const ROOT = join(import.meta.dirname, '../../..');

let dataDir: string;
let service: TestService;
let example: ChildProcess;
let origin: string;
let browser: Browser;
beforeAll(async () => {
  dataDir = await newDataDir();
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  service = await startTestService({ DATA_DIR: dataDir, CORS_ORIGINS: origin });
  example = await startExample(port);
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  if (example?.pid) process.kill(-example.pid);
  await service?.stop();
  await rm(dataDir, { recursive: true, force: true });
});

async function startExample(port: number): Promise<ChildProcess> {
  const { ACCESS_TOKEN_SECRET, SERVICE_API_KEY } = SECRETS;
  const child = spawn('npm', ['run', 'example', '--silent'], {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      PORT: String(port),
      MEDIARY_URL: service.address,
      ACCESS_TOKEN_SECRET,
      SERVICE_API_KEY,
    },
  });
  const [started] = (await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => [Buffer.from('it ended')]),
  ])) as [Buffer];
  expect(started.toString()).toContain(`The example listens on ${origin}`);
  return child;
}

test('a chosen video is uploaded, encoded and played, and is in the list', async () => {
  const page = await browser.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  await page.goto(origin);
  await page.setInputFiles('input', await makeClip({ seconds: 2, container: 'mp4' }));
  await page.waitForFunction("document.querySelector('video').currentTime > 0", undefined, {
    timeout: 120_000,
  });
  const { upload, encoding, status } = await page.evaluate<Record<string, unknown>>(
    `({ upload: document.querySelector('#upload').value, encoding: document.querySelector('#encoding').value,
        status: document.querySelector('#status').textContent })`,
  );
  expect({ upload, encoding, status }).toEqual({ upload: 1, encoding: 100, status: 'Playing' });
  await page.waitForSelector('li button:enabled');
  expect(problems).toEqual([]);
});
