// Loaded into psd2 with --require: at the end, records which chunks and which of Node's own modules psd2 has loaded.
const { writeFileSync } = require('node:fs');

const before = new Set(process.moduleLoadList);
process.on('exit', () => {
  const ofNode = process.moduleLoadList.filter((name) => !before.has(name));
  // psd2's own loader has its chunks.
  const { modules } = require('../../../bin/loader.js');
  writeFileSync(
    process.env.LOADED_FILE,
    JSON.stringify({ chunks: [...modules.keys(), ...Object.keys(require.cache)], ofNode }),
  );
});
