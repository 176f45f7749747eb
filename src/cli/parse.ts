import { CommanderError } from '@commander-js/extra-typings';
import { didYouMean } from '../did-you-mean.ts';
import { Psd2Error } from '../errors.ts';
import { wantsJson } from './output-mode.ts';
import { buildProgram, UNKNOWN_NAME } from './program.ts';
import { reportError } from './report-error.ts';

/** Reads this process's arguments, runs the command they name, and sets the exit code. */
export async function parse(version: string): Promise<void> {
  try {
    const program = await buildProgram(version, { words: process.argv.slice(2) });
    // Who types the name alone wants to know what there is.
    if (process.argv.length === 2) program.outputHelp();
    else await program.parseAsync();
  } catch (error) {
    // That is how commander ends after help.
    if (error instanceof CommanderError && error.exitCode === 0) return;
    // It may be that nobody reads the message.
    process.stderr.on('error', () => {});
    const failure = error instanceof CommanderError ? toUsageError(error) : error;
    process.exitCode = reportError(failure, process.stderr, { asJson: wantsJson() });
  }
}

function toUsageError(error: CommanderError): Psd2Error {
  if (error.code === 'commander.help') {
    return new Psd2Error('usage', 'A command is missing', { hint: 'Add --help to see them all.' });
  }
  // What was given may hold line breaks of its own.
  const [what = '', ...suggestions] = error.message
    .replace(/^error: /, '')
    .trimEnd()
    .split(/\n(?=\(?Did you mean )/);
  const message = what.charAt(0).toUpperCase() + what.slice(1);
  const [, given, choices] = /'([^']*)' is invalid.* Allowed choices are (.*)\.$/.exec(what) ?? [];
  const hint = choices
    ? didYouMean(given ?? '', choices.split(', ')).trim()
    : suggestions.join(' ').replace(/[()]/g, '').trim();
  if (hint) return new Psd2Error('usage', message, { hint });
  return error.code === UNKNOWN_NAME
    ? new Psd2Error('usage', message, { hint: 'See which there are with:', next: [['--help']] })
    : new Psd2Error('usage', message, { hint: 'Add --help to see how the command is used.' });
}
