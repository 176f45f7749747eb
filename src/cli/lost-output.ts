import { Psd2Error } from '../errors.ts';
import { wantsJson } from './output-mode.ts';
import { reportError } from './report-error.ts';

/** What can't be written to stdout or stderr ends no payment half way, and is not passed over. */
export function watchOutput(): void {
  process.stdout.on('error', endOverLostOutput);
  // Nobody reads the messages any more: that is no reason to leave a payment half way.
  process.stderr.on('error', () => {});
}

/** Ends the process, since nobody gets what it prints. A reader that has had enough (`| head`) is no error, and hides none. */
export function endOverLostOutput(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit();
  const lost = reportLostOutput(error);
  process.exit(process.exitCode || lost);
}

/**
 * Says that standard output could not be written, as on a full disk.
 *
 * @returns the exit code, unless the command has ended with one of its own
 */
function reportLostOutput({ code = 'unknown reason' }: NodeJS.ErrnoException): number {
  const error = new Psd2Error('config', `Standard output could not be written (${code})`, {
    hint: 'Check the free space where it goes. See what became of a payment with:',
    next: [['transfer', 'list']],
  });
  return reportError(error, process.stderr, { asJson: wantsJson() });
}
