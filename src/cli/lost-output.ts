import { Psd2Error } from '../errors.ts';
import { wantsJson } from './output-mode.ts';
import { reportError } from './report-error.ts';

/** Handles failed writes to stdout and stderr, so that they neither stop a payment half-way nor go unnoticed. */
export function watchOutput(): void {
  process.stdout.on('error', endOverLostOutput);
  // stderr has no reader any more, but the payment must continue.
  process.stderr.on('error', () => {});
}

/** Ends the process, since its output is lost. A reader that stops early (`| head`) is not an error and hides none. */
export function endOverLostOutput(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit();
  const lost = reportLostOutput(error);
  process.exit(process.exitCode || lost);
}

/**
 * Reports that standard output cannot be written, for example on a full disk.
 *
 * @returns the exit code, if the command does not have its own
 */
function reportLostOutput({ code = 'unknown reason' }: NodeJS.ErrnoException): number {
  const error = new Psd2Error('config', `Standard output could not be written (${code})`, {
    hint: 'Check the free space of its disk. See the outcome of a payment with:',
    next: [['transfer', 'list']],
  });
  return reportError(error, process.stderr, { asJson: wantsJson() });
}
