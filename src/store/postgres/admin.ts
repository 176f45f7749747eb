// What `psd2 store init` and `psd2 store copy` need of the home in PostgreSQL, loaded at once and only by them.
export { parseAddress } from './address.ts';
export { databaseSide } from './copy/side.ts';
export { Database } from './database.ts';
export { currentVersion, initSql, initStore } from './init.ts';
