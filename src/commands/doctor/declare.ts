import type { Command } from '@commander-js/extra-typings';
import { examples, type Run } from '../declare.ts';

export function declareDoctor(doctor: Command, run: Run): void {
  doctor
    .addHelpText(
      'after',
      `
Each check is ok, warn, fail or skip, with what to do. It sends one request, the authorize call that a login begins
with, and spends no token. The exit code is that of the first check that failed; a warning is none.
${examples('psd2 doctor', 'psd2 --profile mybank doctor --json | jq -r \'.checks[] | select(.status != "ok") | .name\'')}`,
    )
    .action(() => run(async (context) => (await import('./doctor.ts')).doctor(context), 'diagnosis'));
}
