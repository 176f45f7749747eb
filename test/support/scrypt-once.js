// Derives each key from a passphrase once in a process, and gives the same one again: a derivation takes a quarter of a
// second of the processor on purpose, and tests open the same few profiles again and again.
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

const REMEMBERS = Symbol.for('psd2 tests remember scrypt');

if (!crypto.scrypt[REMEMBERS]) {
  const { scrypt } = crypto;
  const derived = new Map();
  const once = (password, salt, length, options, done) => {
    const input = JSON.stringify([password, Buffer.from(salt).toString('base64'), length, options]);
    const key =
      derived.get(input) ??
      new Promise((resolve, reject) => {
        scrypt(password, salt, length, options, (error, made) => (error ? reject(error) : resolve(made)));
      });
    derived.set(input, key);
    key.then(
      (made) => done(null, Buffer.from(made)),
      (error) => done(error),
    );
  };
  once[REMEMBERS] = true;
  crypto.scrypt = once;
  syncBuiltinESMExports();
}
