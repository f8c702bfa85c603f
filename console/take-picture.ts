// Makes the picture of the README from a running service with the demo library:
// `npm run picture -w console -- "<sign-in link>" [path of Chromium]`.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import sharp from 'sharp';

const [link, executablePath = '/usr/bin/chromium'] = process.argv.slice(2);
if (link === undefined) throw new Error('Usage: npm run picture -w console -- "<sign-in link>"');

const SIZE = { width: 1280, height: 800 };
const TARGET = join(import.meta.dirname, '../docs/console.webp');

/** The list loads pictures below the visible part later. */
const VISIBLE_PICTURES_LOADED = `[...document.images]
  .filter((image) => image.getBoundingClientRect().top < innerHeight)
  .every((image) => image.complete)`;

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
try {
  const page = await browser.newPage({ viewport: SIZE, deviceScaleFactor: 1.5, bypassCSP: true });
  await page.goto(link);
  await page.getByRole('link', { name: 'Library' }).click();
  await page.getByRole('combobox', { name: 'State' }).click();
  await page.getByRole('option', { name: 'Ready' }).click();
  await page.getByText('Trailer, summer festival').waitFor();
  await page.waitForFunction(VISIBLE_PICTURES_LOADED);
  const picture = await sharp(await page.screenshot())
    .webp({ quality: 80 })
    .toBuffer();
  await writeFile(TARGET, picture);
  console.log(`${TARGET}: ${Math.round(picture.length / 1000)} kB`);
} finally {
  await browser.close();
}
