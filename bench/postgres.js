// The PostgreSQL server of the tests, for the benches.
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** What is measured is psd2 and the database, not the derivation of a key. */
export const PLAIN = { PSD2_STORE_PLAIN_TOKENS: '1' };

/** Starts a separate server. @returns test/store/postgres/server.ts says what it can do */
export async function startPostgres() {
  const { startServer } = await importTypeScript(
    `export { startServer } from './test/store/postgres/server.ts';`,
  );
  return startServer();
}

/** Imports TypeScript of this project. Node.js 20 can't do that on its own. */
export async function importTypeScript(contents) {
  const outfile = fileURLToPath(new URL(`../node_modules/.cache/bench-${process.pid}.mjs`, import.meta.url));
  await build({
    stdin: { contents, resolveDir: fileURLToPath(new URL('..', import.meta.url)), loader: 'ts' },
    outfile,
    ...{ bundle: true, platform: 'node', format: 'esm', packages: 'external', logLevel: 'error' },
  });
  try {
    return await import(`${outfile}?${Math.random()}`);
  } finally {
    rmSync(outfile);
  }
}
