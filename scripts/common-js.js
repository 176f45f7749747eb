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
 * @param {Map<string, string>} passedOn see {@link chunksPassedOn}
 * @param {Set<string>} zod names of the chunks that have zod: what other chunks build with it is built when it is first used
 * @returns {Promise<string>} without comments
 * @throws SyntaxError if the text is not an ES module
 */
export async function asCommonJs(text, passedOn = new Map(), zod = new Set()) {
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
      [straightToChunk, { passedOn }],
      dynamicImport,
      [modulesCommonJs, { lazy: () => true }],
    ],
  });
  // V8 takes twice the memory for a text with a letter beyond ASCII, and twice as long to read it.
  return `${code.replace(/[^\0-\x7f]/g, escaped)}\n`;
}

/** An escape that means the same in a name, a string, a regular expression and a template, but not in one for `String.raw`. */
function escaped(unit) {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
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

/**
 * The chunks that only pass on what another one exports, as esbuild makes them for an import() of a source in a larger chunk. Loading
 * the other one at once saves a file.
 *
 * @param {readonly { path: string; text: string }[]} outputFiles ES modules that esbuild made without white space
 * @returns {Map<string, string>} name of such a chunk -> name of the one that has the exports, under the same names
 */
export function chunksPassedOn(outputFiles) {
  const others = `(?:import"[^"]*";)*`;
  const form = new RegExp(
    String.raw`^${others}import\{([^}]*)\}from"[^"]*?([^"/]+)";${others}export\{([^}]*)\};\s*$`,
  );
  const chunks = new Map();
  for (const { path, text } of outputFiles) {
    const [, imported, chunk, exported] = form.exec(text) ?? [];
    // A name differs if it is written as `one as other`.
    const names = (list) => list.split(',').sort().join();
    if (chunk !== undefined && !/ as /.test(imported + exported) && names(imported) === names(exported))
      chunks.set(path.split(/[/\\]/).at(-1), chunk);
  }
  return chunks;
}

/** Replaces `import('./passed-on.js')` by `import('./chunk.js')`. */
function straightToChunk(_babel, { passedOn }) {
  return {
    visitor: {
      CallExpression({ node: { callee, arguments: given } }) {
        const [from] = given;
        if (!types.isImport(callee) || !types.isStringLiteral(from)) return;
        from.value = from.value.replace(/[^/]*$/, (name) => passedOn.get(name) ?? name);
      },
    },
  };
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
