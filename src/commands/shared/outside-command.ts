import { spawn } from 'node:child_process';
import { Psd2Error } from '../../errors.ts';
import { SETTING_NAMES, TEXT_VARIABLES } from '../../store/machine/settings.ts';
import { reason } from '../../terminal/browser.ts';
import { cleanText } from '../../terminal/clean.ts';
import { environmentFor } from '../../terminal/program-environment.ts';
import { shellWords } from '../../terminal/shell-words.ts';
import type { Context } from '../context.ts';

/** More than any answer that is expected of such a command. */
const LARGEST_OUTPUT = 64 * 1024;

/**
 * Runs a command of the operator's that a setting names: split as a shell splits words, run without a shell, and
 * without psd2's own variables. It may take as long as one HTTP call (`--timeout`).
 *
 * @param input what it gets on standard input, exactly
 * @returns what it printed on standard output
 * @throws Psd2Error `config` when it can't be started, fails or takes too long
 */
export async function runOutsideCommand(
  { globals, world }: Pick<Context, 'globals' | 'world'>,
  setting: 'signer' | 'payeeCheck' | 'notify',
  command: string,
  input: string,
): Promise<string> {
  const [variable, name] =
    setting === 'notify' ? ['PSD2_NOTIFY', 'notify'] : [TEXT_VARIABLES[setting], SETTING_NAMES[setting]];
  const [program, ...args] = shellWords(command, variable);
  const fail = (what: string, stderr = '') =>
    new Psd2Error('config', `The ${name} command ${JSON.stringify(program ?? '')} ${what}`, {
      hint:
        stderr !== ''
          ? `It says: ${stderr}`
          : `Check ${variable}${setting === 'notify' ? '' : ' or the profile'}.`,
    });
  if (program === undefined) throw fail('is empty');
  const timeout = AbortSignal.timeout(globals.timeoutMs);

  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: environmentFor(setting), stdio: ['pipe', 'pipe', 'pipe'] });
    const output = { stdout: '', stderr: '' };
    const give = (settle: () => void) => {
      ended.removeEventListener('abort', onEnded);
      settle();
    };
    const stop = (error: unknown) => {
      child.kill('SIGKILL');
      // What it started itself may hold these open.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      give(() => reject(error));
    };
    const ended = AbortSignal.any([world.signal, timeout]);
    const onEnded = () =>
      stop(
        world.signal.aborted
          ? world.signal.reason
          : fail(`did not answer within ${globals.timeoutMs / 1000} s`),
      );
    if (ended.aborted) return onEnded();
    ended.addEventListener('abort', onEnded);
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        if (name === 'stdout' && output.stdout.length + text.length > LARGEST_OUTPUT)
          stop(fail('printed more than is of use'));
        else output[name] = (output[name] + text).slice(-LARGEST_OUTPUT);
      });
    }
    // A command that does not read to the end may still know the answer.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.once('error', (error) => give(() => reject(fail(`could not be started${reason(error)}`))));
    child.once('close', (code, signal) =>
      give(() => {
        if (code === 0) resolve(output.stdout);
        else
          reject(
            fail(
              signal === null ? `ended with the exit code ${code}` : `was ended by ${signal}`,
              cleanText(output.stderr.trim()).slice(-500),
            ),
          );
      }),
    );
  });
}
