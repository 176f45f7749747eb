// A thread of psd2 sync.
require('./compiled-code.js').keepCompiledCode();
require('../dist/sync-thread.js');
