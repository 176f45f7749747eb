import type { BrowserContextOptions, ConsoleMessage, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { openPages, type Pages } from '../support/pages.ts';

/** Opens pages in Chromium. Everything that the browser writes to its console fails the test. */
export interface QuietPages {
  /** Opens a page that has no cookies, and shares nothing with the other pages of the test. */
  open(options: BrowserContextOptions): Promise<Page>;
  /** Ignores console messages with `text` that were written until now. */
  forgive(text: string): void;
}

/** Starts a Chromium for the tests of the surrounding `describe`. */
export function useQuietPages(): QuietPages {
  let pages: Pages;
  let listened: Page[] = [];
  let complaints: string[] = [];
  const hear = (message: ConsoleMessage) => complaints.push(message.text());
  const hearError = (error: Error) => complaints.push(error.message);
  beforeAll(async () => {
    pages = await openPages();
  }, 30_000);
  afterAll(() => pages.close());
  afterEach(async () => {
    for (const page of listened) page.off('console', hear).off('pageerror', hearError);
    const heard = complaints;
    [listened, complaints] = [[], []];
    await pages.putAway();
    expect(heard).toEqual([]);
  });
  return {
    async open(options) {
      const page = await pages.open(options);
      listened.push(page);
      return page.on('console', hear).on('pageerror', hearError);
    },
    forgive(text) {
      complaints = complaints.filter((complaint) => !complaint.includes(text));
    },
  };
}
