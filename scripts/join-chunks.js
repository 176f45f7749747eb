// Joins chunks that are always loaded together into one file: Node takes longer to find and read a file than to run it.
import { dirname, join } from 'node:path';
import { build } from 'esbuild';

/**
 * Chooses the chunks that go into one file. `main` and its imports stay separate, since they are loaded without the rest.
 *
 * @param {import('esbuild').Metafile} metafile
 * @param {string} main the source of the entry that does not change
 * @param {Record<string, { sources: string[] } | { importedBy: string[] }>} joined name of a file -> the sources whose chunks
 *   go into it, or the sources of entries: these and all their imports. If two files want a chunk, the first one gets it
 * @returns {Map<string, string>} path of a chunk -> path of the file that it goes into
 * @throws Error if a source is in no chunk
 */
export function filesOfChunks({ outputs }, main, joined) {
  const chunkOf = (source) => {
    const chunk = Object.keys(outputs).find((path) => outputs[path].inputs[source]?.bytesInOutput > 0);
    if (chunk === undefined) throw new Error(`${source} is in no chunk`);
    return chunk;
  };
  /** The source's chunk, and the one that import() names, which only re-exports. */
  const chunksOf = (source) => [
    chunkOf(source),
    ...Object.keys(outputs).filter((path) => outputs[path].entryPoint === source),
  ];
  const withImports = (chunk, all = new Set()) => {
    if (all.has(chunk)) return all;
    all.add(chunk);
    for (const { path, kind } of outputs[chunk].imports)
      if (kind === 'import-statement' && path in outputs) withImports(path, all);
    return all;
  };
  const alone = withImports(chunkOf(main));
  const files = new Map();
  for (const [name, chosen] of Object.entries(joined)) {
    const chunks =
      'sources' in chosen
        ? chosen.sources.flatMap(chunksOf)
        : chosen.importedBy.flatMap(chunksOf).flatMap((chunk) => [...withImports(chunk)]);
    for (const chunk of chunks)
      if (!alone.has(chunk) && !files.has(chunk)) files.set(chunk, join(dirname(chunk), name));
  }
  return files;
}

/**
 * Chunks as one file. For each chunk the file exports a function with the chunk's name, which returns the chunk's exports.
 * A chunk still runs only when it is first needed.
 *
 * @param {Map<string, string>} chunks name -> CommonJS. They may require each other
 * @returns {Promise<string>} CommonJS
 */
export async function joinChunks(chunks) {
  const givenOut = [...chunks.keys()].map((name) => `${JSON.stringify(name)}: () => require('./${name}')`);
  const { outputFiles } = await build({
    stdin: { contents: `module.exports = { ${givenOut.join(', ')} };`, resolveDir: '/' },
    plugins: [
      {
        name: 'chunks',
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /./ }, ({ path }) => {
            const name = path.replace('./', '');
            return chunks.has(name) ? { path: name, namespace: 'chunk' } : { path, external: true };
          });
          onLoad({ filter: /./, namespace: 'chunk' }, ({ path }) => ({ contents: chunks.get(path) }));
        },
      },
    ],
    write: false,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'cjs',
    minifySyntax: true,
    minifyWhitespace: true,
    logLevel: 'warning',
  });
  return outputFiles[0].text;
}
