import type { Command } from '@commander-js/extra-typings';
import { examples, type Run } from '../declare.ts';

export function declareExpiring(expiring: Command, run: Run): void {
  expiring
    .option('--within <days>', 'how many days to look ahead', '14d')
    .addHelpText(
      'after',
      `
The list has the certificates of the profile, the logins of all its customers, and the consents of customers who are logged
in (a consent ends 180 days after its confirmation). The exit code is 0 if nothing ends within that time, and 12 if something
does.

PSD2_NOTIFY names a command that gets each item as JSON on its standard input: once, and again if its end changes. psd2
splits the command as a shell splits words, and runs it without a shell.

${examples('psd2 expiring', 'psd2 expiring --within 30d --json', 'PSD2_NOTIFY="mail-me --to ops" psd2 expiring').trimStart()}`,
    )
    .action((options) => run(async (context) => (await import('./expiring.ts')).expiring(context, options)));
}
