// Of undici psd2 takes the client for HTTP/1.1 and bodies of bytes: neither HTTP/2 nor forms, and of node:http, which takes
// its time to load, what undici asks of it.
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
