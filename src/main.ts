import { readFileSync } from 'node:fs';
import { isTerminalOnStdout, printAtOnce } from './cli/print-at-once.ts';

declare const PSD2_VERSION: string;

/**
 * Runs `psd2` with the arguments of this process and sets its exit code.
 *
 * @param helpFile a file in which the build has stored the output of `psd2 --help`
 */
export async function main(helpFile: string): Promise<void> {
  const [first, second, third] = process.argv.slice(2);
  if ((first === '--version' || first === '-V') && second === undefined) {
    // This answer needs no command tree.
    printAtOnce(`${PSD2_VERSION}\n`);
    return;
  }
  // A terminal may be narrower than the lines of the stored help.
  if (first === '--help' && second === undefined && !isTerminalOnStdout()) {
    const text = readIfThere(helpFile);
    if (text !== undefined) {
      printAtOnce(text);
      return;
    }
  }
  if (first === 'completion' && third === undefined) {
    const { SCRIPTS } = await import('./commands/completion/completion.ts');
    const script = Object.entries(SCRIPTS).find(([shell]) => shell === second)?.[1];
    if (script !== undefined) {
      printAtOnce(script);
      return;
    }
  }
  if (first === '__complete') {
    const { answerShell } = await import('./cli/completion/complete.ts');
    await answerShell(process.argv.slice(3));
    return;
  }
  const { parse } = await import('./cli/program.ts');
  await parse(PSD2_VERSION);
}

/** Reads a file. There is none while the build asks for the help that it will store there. */
function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
