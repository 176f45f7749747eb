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
    onResolve({ filter: /^node:http$/ }, (from) =>
      fromUndici(from) ? { path: from.path, namespace: 'client-alone' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'client-alone' }, () => ({
      contents: 'module.exports = { maxHeaderSize: 16384, IncomingMessage: class {} };',
    }));
  },
};
