import type { Command } from '@commander-js/extra-typings';
import { examples, type Run } from '../declare.ts';

export function declareDoctor(doctor: Command, run: Run): void {
  doctor
    .addHelpText(
      'after',
      `
Each check is ok, warn, fail or skip, and says what to do. The command sends one request, the authorize call that begins
a login, and uses no token. The exit code is that of the first check that failed. A warning is not a failure.
${examples('psd2 doctor', 'psd2 --profile mybank doctor --json | jq -r \'.checks[] | select(.status != "ok") | .name\'')}`,
    )
    .action(() => run(async (context) => (await import('./doctor.ts')).doctor(context), 'diagnosis'));
}
