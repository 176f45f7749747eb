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

let isSettled = process.versions.node.split('.', 1)[0] !== '20';

/**
 * Prevents V8 of Node.js 20 from compiling undici's parser again after the first answer. The process would wait for that at
 * its end. Call it just before undici compiles the parser, which takes the flag along. Later the flag is as before, because V8
 * uses no code cache under changed flags: neither Node's own nor psd2's.
 */
export function compileParserOnce(): void {
  if (isSettled) return;
  isSettled = true;
  setFlagsFromString('--wasm-tiering-budget=1000000000');
  setImmediate(() => setFlagsFromString(`--wasm-tiering-budget=${DEFAULT_BUDGET}`));
}

/** Of V8 11.3, which is in all versions of Node.js 20. */
const DEFAULT_BUDGET = 1_800_000;
