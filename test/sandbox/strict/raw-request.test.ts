import { createHash } from 'node:crypto';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { readRawRequest } from '../../../src/sandbox/strict/raw-request.ts';

const MIB = 1024 * 1024;

/** Returns a POST that comes in these pieces. */
function incoming(pieces: Buffer[], socket = new Socket()): IncomingMessage {
  const message = new IncomingMessage(socket);
  message.method = 'POST';
  message.url = '/private/x?a=%2f';
  message.rawHeaders.push('Date', 'today', 'date', 'later', 'X-Ä', '');
  const left = [...pieces];
  message._read = () => setImmediate(() => message.push(left.shift() ?? null));
  return message;
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest();

describe('a request as received', () => {
  it('the bank reads method, address, headers and body without a change', async () => {
    expect(await readRawRequest(incoming([Buffer.from('{"a"'), Buffer.from(':1}')]))).toEqual({
      method: 'POST',
      target: '/private/x?a=%2f',
      headers: [
        ['Date', 'today'],
        ['date', 'later'],
        ['X-Ä', ''],
      ],
      body: Buffer.from('{"a":1}'),
      clientCertificate: undefined,
    });
  });

  it('the bank reads a body of exactly 1 MiB', async () => {
    const body = Buffer.alloc(MIB, 'a');
    const read = await readRawRequest(incoming([body.subarray(0, MIB - 1), body.subarray(MIB - 1)]));
    expect(read.oversized).toBeUndefined();
    expect(read.body.equals(body)).toBe(true);
  });

  it.each([
    ['one byte more, in one piece', [MIB + 1]],
    ['one byte more, in two pieces', [MIB, 1]],
    ['many pieces', [10, 20_000, MIB, 70_000, 1]],
    ['a small piece and a large one', [10, MIB]],
  ])('of a larger body, the bank keeps the beginning, the length and the hash: %s', async (_, lengths) => {
    const pieces = lengths.map((length, index) => Buffer.alloc(length, 'abcd'[index]));
    const body = Buffer.concat(pieces);
    const read = await readRawRequest(incoming(pieces));
    expect(read.oversized).toEqual({ length: body.length, sha256: sha256(body) });
    expect(read.body.equals(body.subarray(0, 16_384))).toBe(true);
  });

  it("the bank asks a connection only once for the client's certificate", async () => {
    let asked = 0;
    class Connection extends TLSSocket {
      override getPeerX509Certificate() {
        asked += 1;
        return undefined;
      }
    }
    const socket = new Connection(new Socket());
    expect((await readRawRequest(incoming([], socket))).clientCertificate).toBeUndefined();
    expect((await readRawRequest(incoming([], socket))).clientCertificate).toBeUndefined();
    expect(asked).toBe(1);
  });
});
