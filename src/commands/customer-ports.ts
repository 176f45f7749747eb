import { isLoopback } from '../domain/loopback.ts';
import type { CustomerPorts } from '../flows/ports.ts';
import { type Profile, redirectUriOf } from '../store/settings.ts';
import type { Context } from './context.ts';

/**
 * The way to the customer's browser and back (command contract, "The callback listener").
 *
 * @param noBrowser shows the address and opens nothing
 */
export function customerPortsOf(context: Context, profile: Profile, noBrowser = false): CustomerPorts {
  const { env, globals, terminal } = context;
  const redirectUri = redirectUriOf(profile);
  return {
    redirectUri,
    scaTimeoutMs: globals.scaTimeoutMs,
    async listen(state, purpose) {
      const { listenForCallback } = await import('../terminal/callback-listener.ts');
      const url = new URL(redirectUri);
      return isLoopback(url) ? listenForCallback({ redirectUri: url, state, purpose }) : null;
    },
    async sendBrowser(url) {
      const { assertOpenable, openInBrowser } = await import('../terminal/browser.ts');
      const address = assertOpenable(url).href;
      const browser = noBrowser ? 'none' : env.PSD2_BROWSER || env.BROWSER || undefined;
      terminal.warn(
        `${browser === 'none' ? "Open this address in the customer's browser" : 'Opening in the browser'}:\n  ${address}`,
      );
      await openInBrowser(address, browser, (failure) =>
        terminal.warn(`${failure} Open the address above by hand.`),
      );
    },
    whileWaiting: (text, work) => terminal.whileWaiting(text, work),
  };
}
