// Loaded into psd2 with --require: at the end, records which chunks and which of Node's own modules psd2 has loaded, and which platforms
// it has read.
const fs = require('node:fs');
const { basename, dirname, join } = require('node:path');
const { fileURLToPath } = require('node:url');

const { readFileSync, writeFileSync } = fs;
const banks = join(__dirname, '../../../banks');
const platforms = [];
fs.readFileSync = (path, ...options) => {
  const file = path instanceof URL ? fileURLToPath(path) : String(path);
  if (dirname(file) === banks) platforms.push(basename(file, '.json'));
  return readFileSync(path, ...options);
};

const before = new Set(process.moduleLoadList);
process.on('exit', () => {
  const ofNode = process.moduleLoadList.filter((name) => !before.has(name));
  writeFileSync(
    process.env.LOADED_FILE,
    JSON.stringify({ chunks: Object.keys(require.cache), ofNode, platforms }),
  );
});
