import { object, text } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { bareVerb, examples } from '../declare.ts';
import { browserOf } from '../shared/browser.ts';
import { addressesOf, requireRunning } from './running.ts';

const shape = object({ url: text('address of the console') });

/** `psd2 sandbox console`: opens the console in the browser, or prints its address if there is no browser to open. */
export const consolePage = bareVerb(
  { what: 'address of the console', shape },
  `
With --no-browser, or PSD2_BROWSER=none, psd2 prints the address instead.
${examples('psd2 sandbox console', 'psd2 sandbox console --no-browser')}`,
  openConsole,
);

/** @throws Psd2Error `sandbox` if it is not running */
async function openConsole(context: Context): Promise<void> {
  const { output, terminal } = context;
  const { consoleUrl: url } = addressesOf(await requireRunning(context));
  const browser = browserOf(context);
  if (output.format !== 'table') output.record({ url }, shape);
  else if (browser === 'none') output.text(url);
  else terminal.warn(`Opening in the browser:\n  ${url}`);
  const { openInBrowser } = await import('../../terminal/browser.ts');
  await openInBrowser(url, browser, (failure) =>
    terminal.warn(`${failure} Open the address by hand: ${url}`),
  );
}
