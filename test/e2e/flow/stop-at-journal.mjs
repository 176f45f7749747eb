// Loaded before psd2: stops it just before it begins the journal of a transfer, until a line arrives on standard input,
// and says so. It also says when psd2 waits for another psd2 that looks for a reference.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const { openSync } = fs;
const say = (what) => fs.writeSync(2, `${what}\n`);
let waits = false;

function awaitLine() {
  for (;;) {
    try {
      fs.readSync(0, Buffer.alloc(1));
      return;
    } catch (error) {
      // A read of standard input does not wait.
      if (error.code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

fs.openSync = (path, flags, ...rest) => {
  const name = String(path);
  if (flags === 'wx' && /tr-[^/]*\.ndjson\.new$/.test(name)) {
    say('stopped before its journal');
    awaitLine();
  }
  try {
    return openSync(path, flags, ...rest);
  } catch (error) {
    if (error.code === 'EEXIST' && name.endsWith('/journal.lock') && !waits) {
      waits = true;
      say('waits for another');
    }
    throw error;
  }
};
syncBuiltinESMExports();
