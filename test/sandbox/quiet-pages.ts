import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { launchChromium } from '../support/chromium.ts';

/** Opens pages in Chromium. Everything that the browser writes to its console fails the test. */
export interface QuietPages {
  /** Opens a page in its own browser context. */
  open(options: BrowserContextOptions): Promise<Page>;
  /** Ignores console messages with `text` that were written until now. */
  forgive(text: string): void;
}

/** Starts a Chromium for the tests of the surrounding `describe`. */
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
