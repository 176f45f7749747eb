import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** Where Chromium is: `CHROMIUM_PATH`, or under one of its usual names on the `PATH` or in `/usr/bin`. */
export function chromiumPath(): string {
  const given = process.env.CHROMIUM_PATH;
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin'];
  const candidates = given ? [given] : NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  const found = candidates.find(isExecutable);
  if (found === undefined) {
    const where = given ? `at CHROMIUM_PATH=${given}` : `under any of the names ${NAMES.join(', ')}`;
    throw new Error(
      `No Chromium ${where}. Install it (Debian: apt-get install chromium) or set CHROMIUM_PATH.`,
    );
  }
  return found;
}

export const CHROMIUM_ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A headless Chromium that makes no requests except for the pages it is sent to. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumPath(),
    args: CHROMIUM_ARGS,
  });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
