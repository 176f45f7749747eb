import type { Socket } from 'node:net';

/**
 * Reads what follows an answer on its connection. A gateway that delivers a request twice may hand on both answers, and undici closes
 * a connection as soon as the first one says so.
 *
 * Call it in the tick in which the answer ends.
 *
 * @param time ends when psd2 waits no longer. If it rejects, so does this
 * @returns whether the connection had more bytes. Empty lines are none (RFC 9112, section 2.2)
 */
export async function hasMoreAfter(socket: Socket, time: Promise<void>): Promise<boolean> {
  const close = socket.destroy.bind(socket);
  let isClosed = false;
  let isUnreadable = false;
  let reason: Error | undefined;
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  // Whatever closes the connection calls this: undici, the other end, an error, the caller.
  socket.destroy = (error) => {
    isClosed = true;
    reason = error;
    isUnreadable ||= error !== undefined && saysMore(error);
    if (!isEndOfUse(error)) end();
    return socket;
  };
  // Once undici does not use the connection again, it reads nothing more from it.
  const look = () => {
    if (isClosed && socket.readableLength > 0) end();
  };
  socket.on('readable', look);
  try {
    await Promise.race([time, ended]);
    return isUnreadable || socket.readableLength > 0;
  } finally {
    socket.off('readable', look);
    socket.destroy = close;
    if (isClosed) close(reason);
  }
}

/** Whether undici closes a connection only because it does not use it again. The other end may write on. */
function isEndOfUse(error: Error | undefined): boolean {
  return error?.name === 'InformationalError';
}

/** Whether undici closes a connection because something came for which nobody had asked. */
function saysMore({ name, message }: Error): boolean {
  return name === 'HTTPParserError' || message === 'bad response';
}
