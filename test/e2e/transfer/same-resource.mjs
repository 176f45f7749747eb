// Loaded before the sandbox bank: while the file SAME_ID exists, every new id at the bank is the one in the file.
import crypto from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const { SAME_ID = '' } = process.env;
const { randomUUID } = crypto;

if (process.argv.includes('sandbox')) {
  crypto.randomUUID = (...options) =>
    existsSync(SAME_ID) ? readFileSync(SAME_ID, 'utf8') : randomUUID(...options);
  syncBuiltinESMExports();
}
