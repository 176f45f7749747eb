#!/usr/bin/env node
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(
    `psd2 needs Node.js 20.19 or newer, and this is ${process.versions.node}. Install a newer one from https://nodejs.org.\n`,
  );
  process.exitCode = 3;
} else {
  // Compiled code is kept between runs where Node can (22 and newer).
  require('node:module').enableCompileCache?.();
  require('../dist/main.js').main();
}
