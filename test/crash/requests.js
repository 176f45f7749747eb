// The points of a request, and the ways to cut its connection. undici reports what it does on Node's diagnostics
// channels, even if it is bundled.
import { subscribe } from 'node:diagnostics_channel';
import tls from 'node:tls';

/**
 * Finds these points of each request: `begin` (no connection yet), `before` (nothing of it is written yet), `sent`
 * (the system has all of it), `begun answer to` (the status is known), `after` (the answer is complete).
 *
 * Cuts a connection where `cutAt` says: `no connection` while it is being made, `before` when it exists and nothing of
 * the request has left, `unanswered` when the bank has begun to answer and nothing of the answer has arrived, or
 * `half answer` in the middle of the answer.
 *
 * @param point records a point, and stops there if it is the chosen one
 * @param write writes a line of the trace
 * @param normalised removes from a text what differs from run to run
 * @param cutAt the cut to make, if any
 */
export function watchRequests({ point, write, normalised, cutAt }) {
  const nameOf = ({ method, path }) => normalised(`${method} ${path.split('?', 1)[0]}`);
  const idOf = ({ headers }) => {
    const at = headers.findIndex((name) => /^(?:tpp|x)-request-id$/i.test(name));
    return at === -1 ? undefined : headers[at + 1];
  };
  const cut = (socket) => socket.destroy(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
  const stopped = (request) => write({ stopped: cutAt, at: Date.now(), requestId: idOf(request) });

  const counts = new Map();
  /** How the connection of a request is cut. */
  const cuts = new WeakMap();
  const connections = new Set();
  let cutNext = false;
  const { connect } = tls;
  tls.connect = (...args) => {
    const socket = connect(...args);
    if (cutNext) cut(socket);
    cutNext = false;
    return socket;
  };
  subscribe('undici:client:connected', ({ socket }) => {
    // The connection to a proxy has another one in it, and that one is cut.
    if (!socket.encrypted) return;
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });

  subscribe('undici:request:create', ({ request }) => {
    const name = nameOf(request);
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    const [, how] = /^(no connection|before|unanswered|half answer) (.*)$/.exec(cutAt ?? '') ?? [];
    if (cutAt === `${how} ${name} #${count}`) cuts.set(request, how);
    if (cuts.get(request) === 'no connection') {
      stopped(request);
      cutNext = connections.size === 0;
      for (const socket of connections) cut(socket);
    } else point(`begin ${name}`);
  });

  /** What to do when undici has written all of a request. */
  const whenWritten = new WeakMap();
  subscribe('undici:client:sendHeaders', ({ request, socket }) => {
    const how = cuts.get(request);
    if (how === 'before') {
      stopped(request);
      cut(socket);
      return;
    }
    if (how !== undefined) cutAnswer(socket, how, () => stopped(request));
    const name = nameOf(request);
    point(`before ${name}`, { requestId: idOf(request) });
    whenWritten.set(
      request,
      watchWrites(socket, () => point(`sent ${name}`)),
    );
  });
  subscribe('undici:request:bodySent', ({ request }) => whenWritten.get(request)?.());
  subscribe('undici:request:headers', ({ request, response }) => {
    point(`begun answer to ${nameOf(request)}`, { status: response.statusCode });
  });
  subscribe('undici:request:trailers', ({ request }) => point(`after ${nameOf(request)}`));

  /** Cuts a connection when the next bytes arrive: before undici sees any of them, or in their middle. */
  function cutAnswer(socket, how, tell) {
    const { push } = socket;
    socket.push = (data) => {
      tell();
      socket.push = () => false;
      if (how === 'unanswered' || data === null) cut(socket);
      else {
        push.call(socket, data.subarray(0, data.length >> 1));
        // undici has read the first half by then.
        setImmediate(() => cut(socket));
      }
      return false;
    };
  }

  /** @returns a function to call after the last write; then `tell` is called as soon as the system has all of them */
  function watchWrites(socket, tell) {
    const { write: writeTo } = socket;
    let waiting = 0;
    let all = false;
    const written = (error) => {
      waiting -= 1;
      if (!error && all && waiting === 0) tell();
    };
    socket.write = (chunk, encoding) => {
      waiting += 1;
      return writeTo.call(socket, chunk, encoding, written);
    };
    return () => {
      all = true;
      socket.write = writeTo;
    };
  }
}
