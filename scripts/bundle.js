// Bundles src/main.ts and everything it imports, split so that a command loads only what it uses.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
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

/** What the Tab key needs, what each start of a command needs on top of it, and what most calls to the bank need. */
const TAB = ['src/cli/program.ts', 'src/terminal/output/fields.ts'];
const START = [...TAB, 'src/cli/run.ts'];
const CALL = [
  'src/commands/open/bank.ts',
  'src/commands/open/keys.ts',
  'src/commands/open/call-records.ts',
  'src/commands/flow/interrupted.ts',
  'src/bank/open.ts',
  'src/store/open.ts',
  'src/store/files/backend.ts',
];
/** What the sources that call no bank need. They are loaded later, too: help asks the last ones what a bank has. */
const WITHOUT_CALL = new Map([
  ['src/cli/completion/complete.ts', TAB],
  ['src/cli/program.ts', START],
  ['src/cli/run.ts', START],
  ['src/commands/open/bank-file.ts', START],
  ['src/commands/open/default-capabilities.ts', START],
  ['src/bank/interfaces/nextgenpsd2/description/description.ts', START],
  ['src/bank/interfaces/nextgenpsd2/interface.ts', START],
]);

// esbuild makes a chunk of the sources that the same entries can reach, and each import() is an entry. With all of them able to reach
// the sources above, these and their imports are three large chunks instead of a hundred small ones: Node.js takes longer to find and
// read a small file than to run it. Nothing more is loaded, because an import without names is dropped (common-js.js).
const together = {
  name: 'together',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\.ts$/ }, ({ kind, path, resolveDir }) =>
      kind === 'dynamic-import' || path === './src/sync-thread.ts'
        ? { path: relative('.', join(resolveDir, path)), namespace: 'later' }
        : undefined,
    );
    onLoad({ filter: /./, namespace: 'later' }, ({ path }) => {
      const others = WITHOUT_CALL.get(path) ?? [...START, ...CALL];
      return { contents: `export * from './${path}';\n${importing(others)}`, resolveDir: process.cwd() };
    });
  },
};

// Entries that nothing starts at, so that what they reach has chunks of its own. Few commands need zod at their start, and the widths
// of characters are for a terminal alone. Of what every command loads, the Tab key needs no more than the files.
const FILES = ['src/store/disk/files.ts'];
const APART = {
  // With what psd2 uses alone.
  zod: `export { coerce, iso, object } from 'zod/mini';`,
  widths: `export { default } from 'string-width';`,
  files: importing(FILES),
  writing: importing([
    ...FILES,
    'src/cli/report-error.ts',
    'src/domain/calendar.ts',
    'src/domain/identifiers.ts',
    'src/store/disk/lock.ts',
    'src/store/disk/replace.ts',
    'src/store/secrets/sealed.ts',
  ]),
};
const apart = {
  name: 'apart',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^apart:/ }, ({ path }) => ({ path: path.slice(6), namespace: 'apart' }));
    onLoad({ filter: /./, namespace: 'apart' }, ({ path }) => ({
      contents: APART[path],
      resolveDir: process.cwd(),
    }));
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
    entryPoints: {
      main: 'src/main.ts',
      'sync-thread': 'src/sync-thread.ts',
      ...Object.fromEntries(Object.keys(APART).map((name) => [`apart/${name}`, `apart:${name}`])),
    },
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
    // It adds nothing but types.
    alias: { '@commander-js/extra-typings': 'commander' },
    // A native addon.
    external: ['@napi-rs/keyring'],
    plugins: [together, apart, reflectMetadataFirst, confAlone, withoutChildProcess, clientAlone],
    define: {
      PSD2_VERSION: JSON.stringify(version),
      PSD2_BANK_FILE_RULES: JSON.stringify(
        digestOf(/^(bank-file|bank\/interfaces\/\w+\/description)\/.*\.ts$/),
      ),
    },
    logLevel: 'warning',
  });
}

/** @param sources paths in the project */
function importing(sources) {
  return sources.map((source) => `import './${source}';`).join('\n');
}

/** A digest of sources. Another one means that they may do something else. @param which their paths in `src` */
function digestOf(which) {
  const hash = createHash('sha256');
  for (const name of readdirSync('src', { recursive: true }).sort())
    if (which.test(name)) hash.update(name).update(readFileSync(join('src', name)));
  return hash.digest('hex');
}
