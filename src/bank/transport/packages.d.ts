declare module 'proxy-from-env' {
  /** The proxy that `HTTPS_PROXY` and `NO_PROXY` of this process name for an address, or `''`. */
  export function getProxyForUrl(url: string): string;
}

declare module 'undici/lib/dispatcher/client.js' {
  // Loading all of undici would take five times as long.
  import { Client } from 'undici';
  export default Client;
}

declare module 'undici/lib/llhttp/llhttp_simd-wasm.js' {
  const bytes: Buffer;
  export default bytes;
}

// Node.js has WebAssembly, but only the browsers' types declare it.
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Memory {
    constructor(descriptor: { initial: number });
  }
}
