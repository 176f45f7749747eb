import { once } from 'node:events';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Asked {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Sends one request on a new connection. No client library changes headers or follows redirects. */
export function askAt(port: number, path: string, { method = 'GET', headers = {}, body }: Asked = {}) {
  return new Promise<Answer>((resolve, reject) => {
    httpRequest({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
      const { statusCode: status = 0, headers } = response;
      text(response).then((body) => resolve({ status, headers, body }), reject);
    })
      .on('error', reject)
      .end(body);
  });
}

export async function openAt(port: number, host = '127.0.0.1'): Promise<Socket> {
  const socket = connect(port, host);
  await once(socket, 'connect');
  socket.on('error', () => undefined);
  return socket;
}

/** As {@link openAt}, with TLS. Trusts any certificate. */
export async function openTlsAt(port: number): Promise<Socket> {
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  socket.on('error', () => undefined);
  return socket;
}

/** Sends these bytes and returns the server's answer until it hangs up. */
export async function sayAt(port: number, bytes: string, host?: string): Promise<string> {
  const socket = await openAt(port, host);
  socket.write(bytes);
  return text(socket);
}

/** Resolves when the server has closed the connection. */
export function hungUpOn(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.resume().once('close', () => resolve()));
}
