// Turns a chunk, the ES module that esbuild made, into CommonJS that loads late: on its syntax tree, by Babel's own means.
import { transformAsync, types } from '@babel/core';
import dynamicImport from '@babel/plugin-transform-dynamic-import';
import modulesCommonJs from '@babel/plugin-transform-modules-commonjs';

/**
 * A chunk as CommonJS. Each module that it imports something of, Node's or another chunk, is loaded when that is first used
 * (the option `lazy` of @babel/plugin-transform-modules-commonjs). What it imports nothing of is not loaded: esbuild names
 * all chunks of an entry in it, so that they are there in their order, and here each is there when it is needed.
 *
 * @param {string} text an ES module
 * @param {Map<string, string>} files the chunks that are in a file with others, by their names: that file's name (join-chunks.js)
 * @returns {Promise<string>} without comments
 * @throws SyntaxError for a text that is not an ES module
 */
export async function asCommonJs(text, files = new Map()) {
  const { code } = await transformAsync(text, {
    babelrc: false,
    configFile: false,
    sourceType: 'module',
    compact: true,
    comments: false,
    plugins: [
      importsByNameAlone,
      ownAddress,
      dynamicImport,
      [modulesCommonJs, { lazy: () => true }],
      [fromFiles, { files }],
    ],
  });
  return `${code}\n`;
}

/** `import './chunk.js'` goes. */
function importsByNameAlone() {
  return {
    visitor: {
      ImportDeclaration(path) {
        if (path.node.specifiers.length === 0) path.remove();
      },
    },
  };
}

/** `require('./chunk.js')` of a chunk that is in a file with others becomes `require('./file.js')['chunk.js']()`. */
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

/** `import.meta.url`, which Babel leaves as it is, becomes the address of the file that the chunk is in. */
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
 * The chunks that can't be loaded late: they give nothing that could be used, and yet do something.
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
