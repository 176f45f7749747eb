#!/usr/bin/env node
const { join } = require('node:path');

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `psd2 needs Node.js 20.19 or newer, and this is ${process.versions.node}. Install a newer version from https://nodejs.org.\n`,
  );
  process.exitCode = 3;
} else {
  keepOwnerBits();
  require('./compiled-code.js').keepCompiledCode();
  void require('../dist/main.js').main(join(__dirname, '../dist/help.txt'));
}

/**
 * Lets psd2 read and write all files and folders that it creates, whatever the umask. For group and others, the umask stays
 * as it is. Processes that psd2 starts inherit the new umask.
 */
function keepOwnerBits() {
  // Node deprecates reading the umask without setting it.
  const umask = process.umask(0o077);
  process.umask(umask & 0o077);
}
