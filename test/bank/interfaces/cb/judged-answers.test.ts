import type { TLSSocket } from 'node:tls';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { never, OK, PUT, TIMEOUT_MS, useRawBank } from '../../raw-bank.ts';

// Tests how psd2 judges the bytes of an answer: when it is complete, and what psd2 says if it is not usable.

const bank = useRawBank();
const KIB = 1024;
const MIB = KIB * KIB;
const send = () => bank.connection.send(PUT, TIMEOUT_MS, never);
const answered = (text: string) => (socket: TLSSocket) => void socket.write(text);
const withHead = (head: string, body = '') => answered(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n${body}`);

describe('an answer that psd2 does not use', () => {
  const unknown = (coding: string) => `has the encoding ${coding}, which psd2 does not know`;
  it.each([
    ['an unknown encoding', 'Content-Encoding: \t ZSTD \t', unknown('zstd')],
    ['two encodings', 'Content-Encoding: br, gzip', unknown('br, gzip')],
    ['an answer that announces too many bytes', `Content-Length: ${32 * MIB + 1}`, 'is larger than 32 MiB'],
  ])('psd2 refuses %s as soon as its head is there, and does not say the query', async (_, head, what) => {
    bank.answer = withHead(head);
    await expect(send()).rejects.toMatchObject({
      name: 'Psd2Error',
      code: 'bank_answer',
      message: `The bank's answer to PUT /x ${what}`,
    });
    expect(await bank.requests()).toEqual([1]);
  });

  it.each(['identity', 'IDENTITY', ''])('an answer may have the encoding %j', async (encoding) => {
    bank.answer = withHead(`Content-Encoding: ${encoding}\r\nContent-Length: 2`, '{}');
    expect((await send()).body.toString()).toBe('{}');
  });
});

describe('an encoded answer', () => {
  const encoded = (coding: string, body: Buffer) => (socket: TLSSocket) => {
    const head = `Content-Encoding: ${coding}\r\nContent-Length: ${body.length}`;
    socket.write(Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n`), body]));
  };

  it.each([
    ['gzip', gzipSync],
    ['X-GZIP', gzipSync],
    ['deflate', deflateSync],
    [' br ', brotliCompressSync],
  ])('psd2 reads an answer with the encoding %j', async (coding, encode) => {
    bank.answer = encoded(coding, encode(Buffer.from('{"a":1}')));
    expect((await send()).body.toString()).toBe('{"a":1}');
  });

  it('an answer may have an encoding and no body', async () => {
    bank.answer = encoded('gzip', Buffer.alloc(0));
    expect((await send()).body.length).toBe(0);
  });

  it.each([
    ['is encoded, but damaged', Buffer.from('{}')],
    ['is larger than 32 MiB', gzipSync(Buffer.alloc(32 * MIB + 1))],
  ])('psd2 refuses an encoded answer that %s', async (what, body) => {
    bank.answer = encoded('gzip', body);
    await expect(send()).rejects.toMatchObject({
      code: 'bank_answer',
      message: `The bank's answer to PUT /x ${what}`,
    });
  });
});

describe('an answer that is not complete', () => {
  const CHUNK = withHead('Transfer-Encoding: chunked', '2\r\n{}\r\n');
  it.each([
    ['the bank closes the connection within its body', withHead('Content-Length: 9', '{}'), 'end'],
    ['the bank closes the connection within its head', answered('HTTP/1.1 200 OK\r\nContent'), 'end'],
    ['the bank closes the connection without a word', () => {}, 'end'],
    ['the bank closes the connection between two chunks', CHUNK, 'end'],
    ['the connection breaks within its body', withHead('Content-Length: 9', '{}'), 'break'],
    ['the connection breaks within an answer without a length', withHead('A: b', '{}'), 'break'],
  ] as const)(
    'an answer counts as lost if %s, and psd2 does not send the request again',
    async (_, write, how) => {
      bank.answer = (socket) => {
        write(socket);
        if (how === 'end') socket.end();
        else void bank.reset(socket);
      };
      await expect(send()).rejects.toMatchObject({
        name: 'CallFailed',
        message: 'the connection was lost',
        neverSent: false,
        passing: true,
        hint: expect.stringContaining('psd2 doctor'),
        cause: expect.any(Error),
      });
      expect(await bank.requests()).toEqual([1]);
    },
  );

  it('an answer without a length is complete if the bank closes the connection in order', async () => {
    bank.answer = (socket) => socket.end('HTTP/1.1 200 OK\r\nA: b\r\n\r\n{"a":1}');
    expect((await send()).body.toString()).toBe('{"a":1}');
  });
});

describe('an answer that is not HTTP', () => {
  const NO_SIZE = /^its answer is not valid HTTP \(Invalid character in chunk size\)$/;
  const TWO_LENGTHS = /^its answer is not valid HTTP \(.*Content-Length.*\)$/;
  const ENDLESS = `HTTP/1.1 200 ${'a'.repeat(128 * KIB)}`;
  const TOO_LONG = /^its answer has more than 16 KiB of headers$/;

  it.each([
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n', /^its answer is not valid HTTP \(.+\)$/],
    [
      'a chunk size that is no number',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      NO_SIZE,
    ],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}', TWO_LENGTHS],
    ['a header of 17 KiB', `HTTP/1.1 200 OK\r\nA: ${'a'.repeat(17 * KIB)}\r\n\r\n`, TOO_LONG],
    ['headers of 17 KiB', `HTTP/1.1 200 OK\r\n${`A: ${'a'.repeat(KIB)}\r\n`.repeat(17)}\r\n`, TOO_LONG],
    ['a first line that does not end', ENDLESS, TOO_LONG],
    ['the same after an interim answer', `HTTP/1.1 102 Processing\r\n\r\n${ENDLESS}`, TOO_LONG],
  ])('psd2 refuses %s, and does not expect better from a second try', async (_, bytes, message) => {
    bank.answer = answered(bytes);
    await expect(send()).rejects.toMatchObject({
      message: expect.stringMatching(message),
      neverSent: false,
      passing: false,
    });
    expect(await bank.requests()).toEqual([1]);
  });

  it('an answer may have headers of 15 KiB, and a body after a long head does not count as head', async () => {
    const head = `A: ${'a'.repeat(15 * KIB)}\r\nContent-Length: ${MIB}`;
    bank.answer = withHead(head, 'b'.repeat(MIB));
    expect((await send()).body).toHaveLength(MIB);
  });

  it.each([
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.0 100\r\n\r\n',
    'HTTP/1.1 102 Processing\r\nX-Request-ID: other\r\n\r\n',
    'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\nContent-Length: 7\r\n\r\n',
    'HTTP/1.1 199 Else\r\n\r\n',
    '\r\nHTTP/1.1 100 Continue\r\n\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n',
  ])('an interim answer is skipped, although psd2 has not asked for it: %j', async (interim) => {
    // In one piece, and byte by byte: also where the head begins.
    const [whole, ...bytes] = [interim + OK, ...`${interim}${OK}`];
    bank.answer = answered(whole);
    expect(await send()).toEqual({
      status: 200,
      headers: { 'content-length': '2' },
      body: Buffer.from('{}'),
    });
    bank.answer = (socket) => {
      const writeNext = () => {
        const byte = bytes.shift();
        if (byte !== undefined) socket.write(byte, writeNext);
      };
      writeNext();
    };
    expect((await send()).status).toBe(200);
    // The connection can be used again.
    expect(await bank.requests()).toEqual([2]);
  });

  it('any number of interim answers may come first, because each has a head of its own', async () => {
    const interim = `HTTP/1.1 102 Processing\r\nA: ${'a'.repeat(12 * KIB)}\r\n\r\n`;
    bank.answer = answered(interim.repeat(10) + OK);
    const { status, headers } = await send();
    expect({ status, headers }).toEqual({ status: 200, headers: { 'content-length': '2' } });
  });

  it.each([
    [
      'the switch to another protocol',
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n${OK}`,
    ],
    ['an interim answer alone', 'HTTP/1.1 100 Continue\r\n\r\n', true],
    ['half of one', 'HTTP/1.1 1', true],
  ])('%s is no answer', async (_, bytes, ends = false) => {
    bank.answer = (socket) => (ends ? socket.end(bytes) : socket.write(bytes));
    await expect(send()).rejects.toBeInstanceOf(Error);
    expect(await bank.requests()).toEqual([1]);
  });
});

describe('bytes that belong to no request', () => {
  it.each([
    ['a second answer', `${OK}HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nforeign`],
    ['bytes after the answer', `${OK}foreign`],
    ['bytes after an answer without a body', 'HTTP/1.1 204 No Content\r\n\r\nforeign'],
  ])('%s never reaches the next call', async (_, bytes) => {
    bank.answer = answered(bytes);
    await send().catch(() => {});
    bank.answer = withHead('Content-Length: 3', 'own');
    expect((await send()).body.toString()).toBe('own');
    expect(await bank.requests()).toEqual([1, 1]);
  });

  it('an answer that comes after psd2 has given up the call never reaches the next call', async () => {
    const controller = new AbortController();
    let late: TLSSocket | undefined;
    bank.answer = (socket) => {
      late = socket;
      controller.abort();
    };
    const sending = bank.connection.send(PUT, TIMEOUT_MS, controller.signal);
    await expect(sending).rejects.toMatchObject({ message: 'interrupted', neverSent: false });
    late?.write(OK.replace('{}', '[]'));
    bank.answer = answered(OK);
    expect((await send()).body.toString()).toBe('{}');
    expect(await bank.requests()).toEqual([1, 1]);
  });
});

describe('the headers of an answer', () => {
  it.each(['Content-Type', 'Location', 'Retry-After'])(
    'if the header %s is repeated, the first one counts',
    async (name) => {
      bank.answer = withHead(`${name}: first \r\n${name}: second\r\nContent-Length: 0`);
      expect((await send()).headers[name.toLowerCase()]).toBe('first');
    },
  );

  it('other repeated headers are one list, and a header may be empty', async () => {
    bank.answer = withHead('Digest: \t a b \r\ndigest:\t\r\nDIGEST: c\t\r\nEmpty:\r\nContent-Length: 0');
    expect((await send()).headers).toEqual({ digest: 'a b, , c', empty: '', 'content-length': '0' });
  });
});
