import type { Context } from '../context.ts';

/**
 * The browser for an address (command contract, "Settings of a profile and their environment"): a command, `none`, or
 * undefined for the system's browser.
 */
export function browserOf({ globals, env }: Pick<Context, 'globals' | 'env'>): string | undefined {
  const opensNothing = globals.noBrowser || globals.qrCode;
  return opensNothing ? 'none' : env.PSD2_BROWSER || env.BROWSER || undefined;
}
