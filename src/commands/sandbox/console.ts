import type { Context } from '../context.ts';
import { browserOf } from '../shared/browser.ts';
import { addressesOf } from './addresses.ts';
import { requireRunning } from './running.ts';
import { consoleUrl } from './shape.ts';

/**
 * `psd2 sandbox console`: opens the console in the browser, or prints its address if there is no browser to open.
 *
 * @throws Psd2Error `sandbox` if it is not running
 */
export async function sandboxConsole(context: Context): Promise<void> {
  const { output, terminal } = context;
  const { consoleUrl: url } = addressesOf(await requireRunning(context));
  const browser = browserOf(context);
  if (output.format !== 'table') output.record({ url }, [], consoleUrl);
  else if (browser === 'none') output.text(url);
  else terminal.warn(`Opening in the browser:\n  ${url}`);
  const { openInBrowser } = await import('../../terminal/browser.ts');
  await openInBrowser(url, browser, (failure) =>
    terminal.warn(`${failure} Open the address by hand: ${url}`),
  );
}
