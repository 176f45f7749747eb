import { setFlagsFromString } from 'node:v8';
import parser from 'undici/lib/llhttp/llhttp_simd-wasm.js';
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

/** How V8 compiles WebAssembly by default: each function at its first call, and often called ones again, for speed. */
const DEFAULTS = ['wasm-lazy-compilation', 'wasm-tier-up', 'wasm-dynamic-tiering'];
/** V8 keeps the code for as long as the module is there. */
let compiled: WebAssembly.Module | undefined;

/**
 * Compiles undici's parser at once: V8 gives undici this code when it compiles the same bytes. By default V8 would compile it
 * again for speed after the first answers, which takes longer than the rest of a short command, or after hundreds, which takes
 * 35 MB. Call it while psd2 waits for the bank to answer the handshake. Afterwards the flags are as before, because V8 uses no
 * code cache under changed flags.
 */
export function compileParserOnce(): void {
  if (compiled) return;
  for (const flag of DEFAULTS) setFlagsFromString(`--no-${flag}`);
  try {
    compiled = new WebAssembly.Module(parser);
  } catch {
    // A processor without SIMD: undici takes another parser.
  } finally {
    for (const flag of DEFAULTS) setFlagsFromString(`--${flag}`);
  }
}
