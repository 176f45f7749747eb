import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { launchChromium } from './chromium.ts';

/** The default of Playwright. */
const VIEWPORT = { width: 1280, height: 720 };

/** The pages of a Chromium, each for one person: without cookies, and apart from the other pages. */
export interface Pages {
  open(options?: BrowserContextOptions): Promise<Page>;
  /** Ends the use of all pages that are open. */
  putAway(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts a Chromium. It gives a page that was put away again, because a new one starts a process, and that takes the processor
 * as long as most tests of a page.
 */
export async function openPages(): Promise<Pages> {
  const browser = await launchChromium();
  const used: { page: Page; kind: string; options: BrowserContextOptions }[] = [];
  const clean = new Map<string, Page[]>();
  return {
    async open(options = {}) {
      const { viewport, ...rest } = options;
      const kind = JSON.stringify(rest);
      const page = clean.get(kind)?.pop() ?? (await newPage(browser, rest));
      used.push({ page, kind, options });
      await page.setViewportSize(viewport ?? VIEWPORT);
      return page;
    },
    async putAway() {
      const over = used.splice(0);
      const isClean = await Promise.all(over.map(({ page, options }) => makeClean(page, options)));
      for (const [at, { page, kind }] of over.entries()) {
        if (isClean[at]) clean.set(kind, [...(clean.get(kind) ?? []), page]);
      }
    },
    close: () => browser.close(),
  };
}

async function newPage(browser: Browser, options: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext(options);
  return context.newPage();
}

/** @returns false if the page is of no more use. It is closed then */
async function makeClean(page: Page, { colorScheme = 'light' }: BrowserContextOptions): Promise<boolean> {
  const context = page.context();
  try {
    for (const other of context.pages()) if (other !== page) await other.close();
    await page.goto('about:blank');
    await page.emulateMedia({ colorScheme });
    await context.clearCookies();
    return true;
  } catch {
    await context.close();
    return false;
  }
}
