import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { launchChromium } from '../chromium.ts';

/** Pages in Chromium of which the browser has nothing to complain: what it writes to its console fails the test. */
export interface QuietPages {
  /** A page in a context of its own. */
  open(options: BrowserContextOptions): Promise<Page>;
  /** What holds `text` and was written until now is no complaint. */
  forgive(text: string): void;
}

/** A Chromium for the tests of the `describe` that this is called in. */
export function useQuietPages(): QuietPages {
  let browser: Browser;
  let contexts: BrowserContext[] = [];
  let complaints: string[] = [];
  beforeAll(async () => {
    browser = await launchChromium();
  }, 30_000);
  afterAll(() => browser.close());
  afterEach(async () => {
    await Promise.all(contexts.map((context) => context.close()));
    const heard = complaints;
    [contexts, complaints] = [[], []];
    expect(heard).toEqual([]);
  });
  return {
    async open(options) {
      const context = await browser.newContext(options);
      contexts.push(context);
      const page = await context.newPage();
      page.on('console', (message) => complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(error.message));
      return page;
    },
    forgive(text) {
      complaints = complaints.filter((complaint) => !complaint.includes(text));
    },
  };
}
