import { expect, it } from 'vitest';
import { browserOf } from '../../../src/commands/shared/browser.ts';
import { useCommands } from '../../cli/in-process.ts';

const { run } = useCommands();

it('the browser is PSD2_BROWSER, then BROWSER, and none with --no-browser and --qr', async () => {
  const both = { PSD2_BROWSER: 'mine', BROWSER: 'all' };
  const chosen: (string | undefined)[] = [];
  for (const options of [{}, { browser: false }, { qr: true } as const]) {
    await run(async (context) => {
      for (const env of [both, { BROWSER: 'all' }, {}]) chosen.push(browserOf({ ...context, env }));
    }, options);
  }
  expect(chosen).toEqual(['mine', 'all', undefined, ...Array<string>(6).fill('none')]);
});
