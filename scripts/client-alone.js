import { readFileSync } from 'node:fs';

// psd2 uses only undici's HTTP/1.1 client with bodies of bytes. This plugin leaves out HTTP/2 and forms, and replaces
// node:http, which is slow to load, by the two exports that undici uses.
export const clientAlone = {
  name: 'client-alone',
  setup({ onResolve, onLoad }) {
    const fromUndici = ({ importer }) => /node_modules[\\/]undici[\\/]/.test(importer);
    onLoad(
      {
        filter: /node_modules[\\/]undici[\\/]lib[\\/](dispatcher[\\/]client-h2|web[\\/]fetch[\\/]body)\.js$/,
      },
      () => ({
        contents: 'module.exports = {};',
        loader: 'js',
      }),
    );
    // psd2 imports the bytes of the parser (src/bank/transport/answer-parser.ts). Of a Buffer, esbuild would copy each byte as a
    // property of the imported module.
    onLoad(
      { filter: /node_modules[\\/]undici[\\/]lib[\\/]llhttp[\\/]llhttp_simd-wasm\.js$/ },
      ({ path }) => ({
        contents: readFileSync(path, 'utf8').replace(/Buffer\.from\(.*?\)/, '$&.buffer'),
        loader: 'js',
      }),
    );
    onResolve({ filter: /^node:http$/ }, (from) =>
      fromUndici(from) ? { path: from.path, namespace: 'client-alone' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'client-alone' }, () => ({
      contents: 'module.exports = { maxHeaderSize: 16384, IncomingMessage: class {} };',
    }));
  },
};
