// A page of the console in Chromium, signed in as an operator, and what every screen must hold.
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import { expectSuccess } from '../http/envelope.ts';
import { asOperator, asUser, call, type TestService } from '../service.ts';

const SIZES = { desk: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const;
const TIMEOUT_MS = 60_000;

export type OpenedConsole = { readonly page: Page; readonly faults: string[] };

/** Signed in as an operator; `faults`: errors of the page, and its requests to other hosts. */
export async function openConsole(
  { browser, service }: { readonly browser: Browser; readonly service: TestService },
  size: keyof typeof SIZES,
  colorScheme: 'light' | 'dark',
): Promise<OpenedConsole> {
  const context = await browser.newContext({ viewport: SIZES[size], colorScheme });
  const page = await context.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol.startsWith('http') && origin !== service.address) faults.push(request.url());
  });
  const { url } = expectSuccess<{ url: string }>(
    await call(service, 'POST /admin/console-links', { headers: asOperator }),
  );
  await page.goto(url);
  await page.getByRole('heading', { name: 'Upload' }).waitFor();
  return { page, faults };
}

/** Without serious findings of axe, sideways scrolling or faults. */
export async function expectSound({ page, faults }: OpenedConsole): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).exclude('.player-frame').analyze();
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  expect(serious.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  expect(faults).toEqual([]);
}

/** With an access token, on the page of those who are not signed in. */
export async function signInAs(page: Page, user: string): Promise<void> {
  await page.getByText('Access token').click();
  await page.locator('input[type=password]').fill(asUser(user).authorization.replace('Bearer ', ''));
  await page.getByRole('button', { name: 'Sign in' }).click();
}

export async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Who is signed in' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
}
