import type { Command } from '@commander-js/extra-typings';
import { examples, type Run } from '../declare.ts';

export function declareExpiring(expiring: Command, run: Run): void {
  expiring
    .option('--within <days>', 'how soon', '14d')
    .addHelpText(
      'after',
      `
Certificates of the profile, the logins of all its customers, and the consents of those who are logged in (180 days
from when they were confirmed). The exit code is 0 when nothing ends within that time, 12 when something does.

PSD2_NOTIFY names a command that gets each of them as JSON on its standard input, once, and again when it ends
at another time. It is split as a shell splits words and run without a shell.

${examples('psd2 expiring', 'psd2 expiring --within 30d --json', 'PSD2_NOTIFY="mail-me --to ops" psd2 expiring').trimStart()}`,
    )
    .action((options) => run(async (context) => (await import('./expiring.ts')).expiring(context, options)));
}
