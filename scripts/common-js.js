// Converts a chunk (an ES module that esbuild made) to CommonJS whose imports load lazily. Babel does it on the syntax tree.
import { transformAsync, types } from '@babel/core';
import dynamicImport from '@babel/plugin-transform-dynamic-import';
import modulesCommonJs from '@babel/plugin-transform-modules-commonjs';
import { lazySchemas } from './lazy-schemas.js';

/**
 * A chunk as CommonJS. A module that it imports names from (Node's own or another chunk) is loaded when the first name is
 * used (option `lazy` of @babel/plugin-transform-modules-commonjs). An import without names is dropped: with these, esbuild
 * only keeps the order of an entry's chunks, and lazy loading needs no order.
 *
 * @param {string} text an ES module
 * @param {Map<string, string>} files name of a joined chunk -> name of the file that has it (join-chunks.js)
 * @param {Set<string>} zod names of the chunks that have zod: what other chunks build with it is built when it is first used
 * @returns {Promise<string>} without comments
 * @throws SyntaxError if the text is not an ES module
 */
export async function asCommonJs(text, files = new Map(), zod = new Set()) {
  const { code } = await transformAsync(text, {
    babelrc: false,
    configFile: false,
    sourceType: 'module',
    compact: true,
    comments: false,
    plugins: [
      [lazySchemas, { zod }],
      importsByNameAlone,
      ownAddress,
      dynamicImport,
      [modulesCommonJs, { lazy: () => true }],
      [fromFiles, { files }],
    ],
  });
  return `${code}\n`;
}

/** @param {import('esbuild').Metafile} metafile */
export function chunksWithZod({ outputs }) {
  const hasZod = ({ inputs }) => Object.keys(inputs).some((source) => source.startsWith('node_modules/zod/'));
  return new Set(
    Object.keys(outputs)
      .filter((path) => hasZod(outputs[path]))
      .map((path) => path.split('/').at(-1)),
  );
}

/** Removes `import './chunk.js'`. */
function importsByNameAlone() {
  return {
    visitor: {
      ImportDeclaration(path) {
        if (path.node.specifiers.length === 0) path.remove();
      },
    },
  };
}

/** Replaces `require('./chunk.js')` of a joined chunk by `require('./file.js')['chunk.js']()`. */
function fromFiles({ template }, { files }) {
  const call = template.expression(`require(FILE)[CHUNK]()`);
  const visitor = {
    CallExpression(path) {
      const [given] = path.node.arguments;
      if (!types.isIdentifier(path.node.callee, { name: 'require' }) || !types.isStringLiteral(given)) return;
      const [, folder, chunk] = /^(.*\/)?([^/]*)$/.exec(given.value);
      const file = files.get(chunk);
      if (file === undefined) return;
      path.replaceWith(call({ FILE: types.stringLiteral(folder + file), CHUNK: types.stringLiteral(chunk) }));
      path.skip();
    },
  };
  return { visitor: { Program: { exit: (path) => path.traverse(visitor) } } };
}

/** Replaces `import.meta.url`, which Babel does not change, by the URL of the file that has the chunk. */
function ownAddress({ template }) {
  const address = template.expression.ast(`require('node:url').pathToFileURL(__filename).href`);
  return {
    visitor: {
      MetaProperty({ parentPath }) {
        if (parentPath.matchesPattern('import.meta.url')) parentPath.replaceWith(types.cloneNode(address));
      },
    },
  };
}

/**
 * The chunks that lazy loading would never load: they have code that runs, but no exports.
 *
 * @param {import('esbuild').Metafile} metafile
 */
export function chunksForEffect({ outputs }) {
  return Object.entries(outputs)
    .filter(([path, { entryPoint, exports, inputs }]) => {
      const bytes = Object.values(inputs).reduce((sum, { bytesInOutput }) => sum + bytesInOutput, 0);
      return path.endsWith('.js') && entryPoint === undefined && exports.length === 0 && bytes > 0;
    })
    .map(([path]) => path);
}
