import { printAtOnce } from './cli/print-at-once.ts';

declare const PSD2_VERSION: string;

/** Runs `psd2` with the arguments of this process and sets its exit code. */
export async function main(): Promise<void> {
  const [first, second, third] = process.argv.slice(2);
  if ((first === '--version' || first === '-V') && second === undefined) {
    // Answers that need no command tree.
    printAtOnce(`${PSD2_VERSION}\n`);
    return;
  }
  if (first === 'completion' && third === undefined) {
    const { SCRIPTS } = await import('./cli/completion/scripts.ts');
    const script = Object.entries(SCRIPTS).find(([shell]) => shell === second)?.[1];
    if (script !== undefined) {
      printAtOnce(script);
      return;
    }
  }
  if (first === '__complete') {
    const { answerShell } = await import('./cli/completion/answer.ts');
    await answerShell(process.argv.slice(3));
    return;
  }
  const { parse } = await import('./cli/parse.ts');
  await parse(PSD2_VERSION);
}
