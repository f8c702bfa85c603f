// Pages of the console in a test: signed in, watched for faults, and judged by axe.
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import { SECRETS, type TestService } from '../support/service.ts';

const SIZES = { desk: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const;

export type ConsoleLook = readonly [size: keyof typeof SIZES, colorScheme: 'light' | 'dark'];

export type ConsolePage = {
  readonly page: Page;
  /** Without serious findings of axe, sideways scrolling, errors, requests to other hosts. */
  expectSound(): Promise<void>;
  /** Opens an address below `/console`. */
  open(path: string): Promise<void>;
};

type OpenRequest = {
  readonly browser: Browser;
  readonly service: TestService;
  readonly look: ConsoleLook;
};

export async function openConsole({ browser, service, look }: OpenRequest): Promise<ConsolePage> {
  const [size, colorScheme] = look;
  const context = await browser.newContext({ viewport: SIZES[size], colorScheme });
  const page = await context.newPage();
  const faults = collectFaults(page, service.address);
  return {
    page,
    open: async (path) => {
      await page.goto(`${service.address}/console${path}`);
    },
    expectSound: async () => {
      const { violations } = await new AxeBuilder({ page })
        .disableRules(['color-contrast-enhanced'])
        .analyze();
      const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
      expect(serious.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
      expect(faults).toEqual([]);
    },
  };
}

function collectFaults(page: Page, address: string): readonly string[] {
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol.startsWith('http') && origin !== address) faults.push(request.url());
  });
  return faults;
}

/** By the cookie alone, without the page of the sign-in. */
export async function signInAsOperator({ page }: ConsolePage, service: TestService): Promise<void> {
  const response = await page.request.post(`${service.url}/console/session`, {
    data: { operator_key: SECRETS.OPERATOR_KEY },
    headers: { 'x-mediary-console': '1' },
  });
  expect(response.status()).toBe(200);
}
