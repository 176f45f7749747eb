import { setFlagsFromString } from 'node:v8';
import { Psd2Error } from '../../errors.ts';

/**
 * undici reads answers with WebAssembly, for whose memory Node.js sets aside some 10 GiB of addresses.
 *
 * @throws Psd2Error `config` when the process may not have them
 */
export function checkAddressSpace(): void {
  try {
    new WebAssembly.Memory({ initial: 1 });
  } catch (cause) {
    throw new Psd2Error('config', 'The limit on virtual memory (ulimit -v) leaves no room for WebAssembly', {
      hint: 'Raise it to 16 GiB or more, or set NODE_OPTIONS=--disable-wasm-trap-handler.',
      cause,
    });
  }
}

let isSettled = process.versions.node.split('.', 1)[0] !== '20';

/**
 * Keeps V8 of Node.js 20 from compiling undici's parser again after the first answer: the process would wait for that
 * when it ends. Called as late as possible, since code that is loaded after a change of flags can't come from Node's cache.
 */
export function compileParserOnce(): void {
  if (isSettled) return;
  isSettled = true;
  setFlagsFromString('--wasm-tiering-budget=1000000000');
}
