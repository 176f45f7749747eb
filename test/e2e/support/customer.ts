import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { openPages, type Pages } from '../../support/pages.ts';
import { ADDRESS, type Running } from './psd2.ts';

/** A customer of the bank with their own browser, without earlier cookies. */
export interface Customer {
  page: Page;
  /** Opens the address that `psd2` shows on stderr. */
  follow(psd2: Running): Promise<void>;
  /** Types the user and the password that the login page shows for a customer, and presses "Log in". */
  logInAs(name: string): Promise<void>;
  press(button: string): Promise<void>;
  /** The heading of the current page. */
  heading(): Promise<string>;
  /** The text beside a term in the page's list. */
  detail(term: string): Promise<string>;
}

/** Opens a Chromium for the tests of this file. @returns a function that gives another customer at each call */
export function useChromium(): (options?: BrowserContextOptions) => Promise<Customer> {
  let pages: Pages;
  beforeAll(async () => {
    pages = await openPages();
  });
  afterEach(() => pages.putAway());
  afterAll(() => pages.close());
  return async (options) => openCustomer(await pages.open(options));
}

function openCustomer(page: Page): Customer {
  page.setDefaultTimeout(15_000);
  const heading = async () => (await page.getByRole('heading', { level: 1 }).textContent()) ?? '';
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  return {
    page,
    heading,
    press,
    follow: async (psd2) => {
      const [, address = ''] = await psd2.prints(ADDRESS);
      await page.goto(address);
    },
    logInAs: async (name) => {
      expect(await heading()).toBe('Log in to your bank');
      const shown = page.getByRole('listitem').filter({ hasText: name });
      const [user = '', password = ''] = await shown.locator('code').allTextContents();
      await page.getByLabel('User').fill(user);
      await page.getByLabel('Password').fill(password);
      await press('Log in');
    },
    detail: async (term) => {
      const row = page.locator('dl > div').filter({ has: page.getByText(term, { exact: true }) });
      return (await row.locator('dd').textContent()) ?? '';
    },
  };
}
