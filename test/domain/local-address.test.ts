import { expect, it } from 'vitest';
import { isBlockedPort, isLoopback } from '../../src/domain/local-address.ts';
import { freePort } from '../support/free-port.ts';

/** All small ports, and the ports around the larger ones of the list. */
const CANDIDATES = Array.from({ length: 10_100 }, (_, port) => port).filter(
  (port) => (port > 0 && port < 1100) || [-5, -1, 0, 1, 5].some((away) => isBlockedPort(port + away)),
);

it('psd2 knows every port that Node refuses to fetch from', async () => {
  // Fetch checks the port before it asks this dispatcher for a connection.
  const dispatcher = {
    dispatch() {
      throw new Error('this port is allowed');
    },
  };
  const refused: number[] = [];
  for (const port of CANDIDATES) {
    const options: object = { dispatcher };
    const reason = await fetch(`http://127.0.0.1:${port}/`, options).catch(({ cause }: Error) => cause);
    if (reason instanceof Error && reason.message === 'bad port') refused.push(port);
  }
  expect(refused).toEqual(expect.arrayContaining([22, 6666, 10_080]));
  expect(refused.filter((port) => !isBlockedPort(port))).toEqual([]);
});

it.each([80, 443, 3000, 8080, 8443, 8444, 8910, 65_535])('browsers can open port %i', (port) => {
  expect(isBlockedPort(port)).toBe(false);
});

it('the tests use no blocked port', async () => {
  for (let times = 0; times < 100; times++) {
    const port = await freePort();
    expect([port, port + 1].filter(isBlockedPort)).toEqual([]);
  }
});

it.each(
  '127.0.0.1:8910/callback 127.255.255.254/ 127.1/ 2130706433/ [::1]:8910/ [0:0:0:0:0:0:0:1]/ LOCALHOST/'
    .split(' ')
    .flatMap((place) => [`http://${place}`, `https://${place}`]),
)('%s stays on this computer', (uri) => {
  expect(isLoopback(new URL(uri))).toBe(true);
});

it.each([
  ...['128.0.0.1', '127.0.0.1.bank.example', '127.bank.example', 'localhost.bank.example'],
  ...['bank.example/#127.0.0.1', '127.0.0.1@bank.example', '[::2]', '[::ffff:192.0.2.1]', '0.0.0.0'],
])('http://%s does not stay on this computer', (place) => {
  expect(isLoopback(new URL(`http://${place}`))).toBe(false);
});

it.each(['ftp://127.0.0.1/', 'javascript://127.0.0.1/', 'file://localhost/etc/passwd'])(
  '%s does not stay on this computer',
  (uri) => {
    expect(isLoopback(new URL(uri))).toBe(false);
  },
);
