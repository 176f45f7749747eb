// Node.js has WebAssembly, but only the browsers' types declare it.
declare namespace WebAssembly {
  class Memory {
    constructor(descriptor: { initial: number });
  }
}
