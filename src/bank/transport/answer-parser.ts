import { setFlagsFromString } from 'node:v8';
import { Psd2Error } from '../../errors.ts';

/**
 * Checks that WebAssembly can start. undici parses answers with it, and Node.js reserves about 10 GiB of addresses for it.
 *
 * @throws Psd2Error `config` if the process may not reserve them
 */
export function checkAddressSpace(): void {
  try {
    new WebAssembly.Memory({ initial: 1 });
  } catch (cause) {
    throw new Psd2Error('config', 'The limit on virtual memory (ulimit -v) is too small for WebAssembly', {
      hint: 'Raise it to 16 GiB or more, or set NODE_OPTIONS=--disable-wasm-trap-handler.',
      cause,
    });
  }
}

/** V8's own budget for WebAssembly, in the versions of Node.js for which it is known. */
const DEFAULT_BUDGETS: Readonly<Record<string, number>> = {
  '20': 1_800_000,
  '22': 13_000_000,
  '24': 13_000_000,
  '26': 13_000_000,
};
const defaultBudget = DEFAULT_BUDGETS[process.versions.node.split('.', 1)[0] ?? ''];
let isSettled = defaultBudget === undefined;

/**
 * Prevents V8 from compiling undici's parser again, for speed, after the first answer (Node.js 20) or the second one (24, 26). That
 * takes longer than the rest of a short command, and the process would wait for it at its end. Call it just before undici
 * compiles the parser, which takes the flag along. Later the flag is as before, because V8 uses no code cache under changed
 * flags: neither Node's own nor psd2's.
 */
export function compileParserOnce(): void {
  if (isSettled) return;
  isSettled = true;
  setFlagsFromString('--wasm-tiering-budget=1000000000');
  setImmediate(() => setFlagsFromString(`--wasm-tiering-budget=${defaultBudget}`));
}
