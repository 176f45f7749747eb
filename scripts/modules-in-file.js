// esbuild writes a CommonJS module of a bundle as a function that runs when something first requires the module. V8 compiles
// a function when it first runs, but one in parentheses together with the file. Only what is compiled with the file is in
// Node's compile cache, so with parentheses the next process need not compile the module again.
import { transformAsync, types } from '@babel/core';

/**
 * Puts each module of a file in parentheses.
 *
 * @param {string} text CommonJS as esbuild or joinChunks() wrote it: `__commonJS({ "name"(exports, module) { ... } })`
 * @returns {Promise<string>} the same with `__commonJS({ "name": (function(exports, module) { ... }) })`
 */
export async function compileWithFile(text) {
  if (!text.includes('__commonJS')) return text;
  const { code } = await transformAsync(text, {
    babelrc: false,
    configFile: false,
    sourceType: 'script',
    compact: true,
    comments: false,
    generatorOpts: { retainFunctionParens: true },
    plugins: [inParentheses],
  });
  return `${code}\n`;
}

function inParentheses() {
  return {
    visitor: {
      ObjectMethod(path) {
        const { key, params, body } = path.node;
        const call = path.parentPath.parentPath;
        if (!call.isCallExpression() || !/__commonJS\)?$/.test(call.get('callee').toString())) return;
        const run = types.functionExpression(null, params, body);
        run.extra = { parenthesized: true };
        path.replaceWith(types.objectProperty(key, run));
      },
    },
  };
}
