// Bundles src/main.ts and everything it imports, split so that a command loads only what it uses.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { clientAlone } from './client-alone.js';

// tsyringe (used by @peculiar/x509) needs reflect-metadata to be loaded first. Splitting does not keep the import order
// of the sources, so this makes tsyringe import it.
const reflectMetadataFirst = {
  name: 'reflect-metadata-first',
  setup({ onLoad }) {
    onLoad({ filter: /node_modules[\\/]tsyringe[\\/]dist[\\/]esm5[\\/]index\.js$/ }, async ({ path }) => ({
      contents: `import 'reflect-metadata';\n${await readFile(path, 'utf8')}`,
      loader: 'js',
    }));
  },
};

// Of conf, psd2 uses only how it writes a file. when-exit ends the process on Ctrl-C by sending the signal again: psd2 ends the
// process on its own, after it has printed how to continue. The others check schemas and move files to new versions, which
// psd2 does itself: loading them takes longer than writing a file.
const confAlone = {
  name: 'conf-alone',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(when-exit|ajv\/dist\/2020\.js|ajv-formats|debounce-fn|semver)$/ }, ({ path }) => ({
      path,
      namespace: 'conf-alone',
    }));
    onLoad({ filter: /./, namespace: 'conf-alone' }, () => ({
      contents: 'export default () => () => {}; export const Ajv2020 = undefined;',
    }));
  },
};

// commander can start commands that are separate programs. psd2 has none, and loading node:child_process would load
// node:net and node:dgram too.
const withoutChildProcess = {
  name: 'without-child-process',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:child_process$/ }, ({ importer, path }) =>
      /node_modules[\\/]commander[\\/]/.test(importer)
        ? { path, namespace: 'without-child-process' }
        : undefined,
    );
    onLoad({ filter: /./, namespace: 'without-child-process' }, () => ({ contents: 'module.exports = {};' }));
  },
};

/**
 * Bundles in memory, and writes nothing.
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
    plugins: [reflectMetadataFirst, confAlone, withoutChildProcess, clientAlone],
    define: {
      PSD2_VERSION: JSON.stringify(version),
      PSD2_BANK_FILE_RULES: JSON.stringify(
        digestOf(/^(bank-file|bank\/interfaces\/\w+\/description)\/.*\.ts$/),
      ),
    },
    logLevel: 'warning',
  });
}

/** A digest of sources. Another one means that they may do something else. @param which their paths in `src` */
function digestOf(which) {
  const hash = createHash('sha256');
  for (const name of readdirSync('src', { recursive: true }).sort())
    if (which.test(name)) hash.update(name).update(readFileSync(join('src', name)));
  return hash.digest('hex');
}
