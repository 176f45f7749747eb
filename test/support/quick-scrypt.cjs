// Loaded into the tests, and by secrets-recorder.cjs into each psd2 that the end-to-end tests run. psd2 lets a computer work for
// a tenth of a second to derive a key from a passphrase, and the tests have it derive hundreds. Here it takes no time.
'use strict';
const crypto = require('node:crypto');
const { syncBuiltinESMExports } = require('node:module');
const { scrypt } = crypto;

/** With `REAL_SCRYPT` in the environment, it takes its time. */
crypto.scrypt = (passphrase, salt, length, options, done) => {
  const cost = process.env.REAL_SCRYPT === undefined ? { N: 2, r: 1, p: 1 } : {};
  scrypt(passphrase, salt, length, { ...options, ...cost }, done);
};
syncBuiltinESMExports();
