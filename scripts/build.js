// Bundles src/main.ts into dist/ with splitting, so that a command loads only what it uses.
import { cpSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { build } from 'esbuild';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
// Built beside it and then put in its place: a build that fails leaves the old one.
const unfinished = `dist.${process.pid}`;

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

await build({
  entryPoints: ['src/main.ts'],
  outdir: unfinished,
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
  plugins: [reflectMetadataFirst, endsByItself],
  // CommonJS packages inside the bundle ask for Node's own modules with require().
  banner: {
    js: "import { createRequire as createRequireForBundle } from 'node:module'; const require = createRequireForBundle(import.meta.url);",
  },
  define: { PSD2_VERSION: JSON.stringify(version) },
  logLevel: 'warning',
});
// The console's page, where the bundle of src/sandbox/console looks for it.
cpSync('src/sandbox/console/public', `${unfinished}/chunks/public`, { recursive: true });
rmSync('dist', { recursive: true, force: true });
renameSync(unfinished, 'dist');
