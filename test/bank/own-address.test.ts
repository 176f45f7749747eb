import { isIPv4 } from 'node:net';
import { expect, it } from 'vitest';
import { ownAddressTowards } from '../../src/bank/transport/own-address.ts';

it('the address towards a bank is the one of the route to it', async () => {
  expect(await ownAddressTowards(new URL('https://127.0.0.1:8443/x'))).toBe('127.0.0.1');
  expect(isIPv4(await ownAddressTowards(new URL('https://localhost')))).toBe(true);
});

it('without a way over IPv4, the bank file must name it', async () => {
  await expect(ownAddressTowards(new URL('https://[::1]:8443'))).rejects.toMatchObject({
    code: 'config',
    hint: 'Name it in the bank file, as psu.ip.',
  });
});
