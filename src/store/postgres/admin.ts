// What `psd2 store init` needs of the home in PostgreSQL, loaded at once and only by it.
export { parseAddress } from './address.ts';
export { Database } from './database.ts';
export { currentVersion, initSql, initStore } from './init.ts';
