declare const PSD2_VERSION: string;

/** Runs `psd2` with the arguments of this process and sets its exit code. */
export async function main(): Promise<void> {
  // A reader that has had enough (`| head`) is no error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  const [first, second, third] = process.argv.slice(2);
  if ((first === '--version' || first === '-V') && second === undefined) {
    // Answers that need no command tree.
    process.stdout.write(`${PSD2_VERSION}\n`);
    return;
  }
  if (first === 'completion' && third === undefined) {
    const { SCRIPTS } = await import('./cli/completion/scripts.ts');
    const script = SCRIPTS[second ?? ''];
    if (script !== undefined) {
      process.stdout.write(script);
      return;
    }
  }
  if (first === '__complete') {
    const { answerShell } = await import('./cli/completion/answer.ts');
    answerShell(process.argv.slice(3));
    return;
  }
  const { parse } = await import('./cli/parse.ts');
  await parse(PSD2_VERSION);
}
