// What goes into dist/: src/main.ts with all that it imports, split so that a command loads only what it uses.
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { build } from 'esbuild';
import { clientAlone } from './client-alone.js';

// tsyringe (under @peculiar/x509) wants reflect-metadata to be there when it is loaded. With splitting, the
// import order of the source says nothing about the order of the chunks, so tsyringe imports it itself.
const reflectMetadataFirst = {
  name: 'reflect-metadata-first',
  setup({ onLoad }) {
    onLoad({ filter: /node_modules[\\/]tsyringe[\\/]dist[\\/]esm5[\\/]index\.js$/ }, async ({ path }) => ({
      contents: `import 'reflect-metadata';\n${await readFile(path, 'utf8')}`,
      loader: 'js',
    }));
  },
};

// conf brings when-exit, which ends the process on Ctrl-C by sending the signal again. psd2 ends by itself, after it
// has said how to go on; and conf writes in one go, so there is never anything to clear away at the exit.
const endsByItself = {
  name: 'ends-by-itself',
  setup({ onLoad }) {
    onLoad({ filter: /node_modules[\\/]when-exit[\\/]dist[\\/]/ }, () => ({
      contents: 'export default () => () => {};',
      loader: 'js',
    }));
  },
};

// commander starts other programs for commands that are files of their own, which psd2 has none of; loading
// node:child_process brings all of node:net and node:dgram.
const startsNothing = {
  name: 'starts-nothing',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/ }, ({ importer, path }) =>
      /node_modules[\\/]commander[\\/]/.test(importer) ? { path, namespace: 'starts-nothing' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'starts-nothing' }, () => ({ contents: 'module.exports = {};' }));
  },
};

/**
 * Bundles without writing anything.
 *
 * @param outdir the folder that the paths of the outputs begin with
 * @returns esbuild's `outputFiles` and `metafile`
 */
export function bundle(outdir) {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  return build({
    entryPoints: ['src/main.ts', 'src/sync-thread.ts'],
    outdir,
    write: false,
    metafile: true,
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    chunkNames: 'chunks/[name]-[hash]',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'linked',
    mainFields: ['module', 'main'],
    // A native addon.
    external: ['@napi-rs/keyring'],
    plugins: [reflectMetadataFirst, endsByItself, startsNothing, clientAlone],
    define: { PSD2_VERSION: JSON.stringify(version) },
    logLevel: 'warning',
  });
}
