// Node.js has it; its types leave it to those of browsers.
declare namespace WebAssembly {
  class Memory {
    constructor(descriptor: { initial: number });
  }
}
