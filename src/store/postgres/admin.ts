// What `psd2 store init` and `psd2 store copy` need from the backend in PostgreSQL. Only they load it.
export type { KeyringEntry } from '../secrets/keyring.ts';
export { parseAddress, withoutPassword } from './address.ts';
export { databaseSide } from './copy/side.ts';
export { Database } from './database.ts';
export { currentVersion, initStore, sqlFor } from './init.ts';
export { mayKeepPlainTokens, opensOne, passphraseEntry, storedKeys } from './keys.ts';
export { addPassphrase, dropOthers } from './rekey.ts';
