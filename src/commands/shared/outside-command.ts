import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { Psd2Error } from '../../errors.ts';
import { SETTINGS } from '../../store/machine/setting-table.ts';
import { reason } from '../../terminal/browser.ts';
import { cleanText } from '../../terminal/clean.ts';
import { environmentFor } from '../../terminal/program-environment.ts';
import { shellWords } from '../../terminal/shell-words.ts';
import { beginTimeLimit } from '../../time-limit.ts';
import type { Context } from '../context.ts';

/** More than any expected answer. */
const MAX_OUTPUT = 64 * 1024;

type OutsideSetting = 'signer' | 'payeeCheck' | 'notifyLink' | 'notify';

/**
 * Runs a command that the operator has named in a setting. psd2 splits it as a shell splits words, and runs it without a
 * shell and without psd2's own variables. It may take as long as one HTTP call (`--timeout`).
 *
 * @param input the exact bytes for its standard input
 * @returns its standard output
 * @throws Psd2Error `config` if the command can't be started, fails or takes too long
 */
export async function runOutsideCommand(
  { globals, world }: Pick<Context, 'globals' | 'world'>,
  setting: OutsideSetting,
  command: string,
  input: string,
): Promise<string> {
  const { variable } = namesOfSetting(setting);
  const [program, ...args] = shellWords(command, variable);
  const fail = (what: string, stderr?: string) => failed(setting, program ?? '', what, stderr);
  if (program === undefined) throw fail('is empty');
  world.signal.throwIfAborted();
  const limit = beginTimeLimit(globals.timeoutMs, world.signal);
  const whyEnded = () =>
    limit.isOver() ? fail(`did not answer within ${globals.timeoutMs / 1000} s`) : world.signal.reason;

  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: environmentFor(setting), stdio: ['pipe', 'pipe', 'pipe'] });
    const give = (settle: () => void) => {
      limit.signal.removeEventListener('abort', onEnded);
      limit.clear();
      settle();
    };
    const stop = (error: unknown) => {
      child.kill('SIGKILL');
      // A process that the command started may hold these open.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      give(() => reject(error));
    };
    const onEnded = () => stop(whyEnded());
    limit.signal.addEventListener('abort', onEnded);
    const output = collectOutput(child, () => stop(fail('printed too much')));
    // The command may answer without reading all its input.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.once('error', (error) => give(() => reject(fail(`could not be started${reason(error)}`))));
    child.once('close', (code, signal) =>
      give(() => {
        if (code === 0) resolve(output.stdout);
        else {
          const how = signal === null ? `ended with the exit code ${code}` : `was ended by ${signal}`;
          reject(fail(how, cleanText(output.stderr.trim()).slice(-500)));
        }
      }),
    );
  });
}

/** Collects the child's output: all of stdout, the end of stderr. */
function collectOutput(child: ChildProcessWithoutNullStreams, onTooMuch: () => void) {
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      if (name === 'stdout' && output.stdout.length + text.length > MAX_OUTPUT) onTooMuch();
      else output[name] = (output[name] + text).slice(-MAX_OUTPUT);
    });
  return output;
}

function namesOfSetting(setting: OutsideSetting): { variable: string; name: string } {
  return setting === 'notify'
    ? { variable: 'PSD2_NOTIFY', name: 'notify' }
    : { variable: SETTINGS[setting].variable, name: SETTINGS[setting].label };
}

function failed(setting: OutsideSetting, program: string, what: string, stderr = ''): Psd2Error {
  const { variable, name } = namesOfSetting(setting);
  return new Psd2Error('config', `The ${name} command ${JSON.stringify(program)} ${what}`, {
    hint:
      stderr !== ''
        ? `It says: ${stderr}`
        : `Check ${variable}${setting === 'notify' ? '' : ' or the profile'}.`,
  });
}
