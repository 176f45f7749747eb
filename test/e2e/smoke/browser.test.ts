import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { smokeRun } from '../../../src/commands/smoke/shape.ts';
import { blocksOf } from '../../docs/pages.ts';
import { CHROMIUM_ARGS, chromiumPath } from '../../support/chromium.ts';
import { useSandbox } from '../support/psd2.ts';

const operator = useSandbox();

it('the program of docs/smoke.md logs a test customer in and grants a consent, in Chromium', async () => {
  const [program = ''] = blocksOf('docs/smoke.md')
    .filter(({ language }) => language === 'js')
    .map(({ text }) => text);
  const playwright = pathToFileURL(createRequire(import.meta.url).resolve('playwright-core')).href;
  const launch = JSON.stringify({ executablePath: chromiumPath(), args: CHROMIUM_ARGS });
  const path = join(operator.folder, 'customer.mjs');
  const here = program
    .replace(
      "import { chromium } from 'playwright';",
      `import core from '${playwright}';\nconst { chromium } = core;`,
    )
    .replace('chromium.launch()', `chromium.launch(${launch})`);
  expect(here).toContain(launch);
  writeFileSync(path, here);
  const ended = await operator.succeeds(['smoke', '--json', '--login', '--consent'], {
    env: {
      PSD2_BROWSER: `"${process.execPath}" "${path}"`,
      // The path of a socket of Chromium must be short.
      TMPDIR: tmpdir(),
      ...{ BANK_TEST_USER: 'anna', BANK_TEST_PASSWORD: 'anna-sandbox' },
    },
  });
  const { steps } = smokeRun.read(JSON.parse(ended.stdout));
  const of = (id: string) => steps.find((step) => step.id === id)?.status;
  expect([of('login'), of('consent'), of('transactions')]).toEqual(['pass', 'pass', 'pass']);
});
