// A thread of psd2 sync.
require('./loader.js').load('sync-thread.js');
