import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { Psd2Error } from '../../errors.ts';

/**
 * The IPv4 address that this machine calls a bank from, as its routes say. Nothing is sent.
 *
 * @throws Psd2Error `bank_unreachable` if nobody knows the bank's name, `config` if there is no way to the bank over IPv4
 */
export async function ownAddressTowards({ hostname, port }: URL): Promise<string> {
  const socket = createSocket('udp4');
  try {
    socket.connect(Number(port || '443'), hostname);
    await once(socket, 'connect');
    return socket.address().address;
  } catch (cause) {
    if (!(await hasAddress(hostname)))
      throw new Psd2Error(
        'bank_unreachable',
        `The bank could not be reached: the host name ${hostname} is not known`,
        {
          hint: 'Try again later. Check the base URL and the network.',
          cause,
        },
      );
    throw new Psd2Error('config', 'psd2 does not know the IPv4 address that it calls the bank from', {
      hint: 'Name it in the bank file, as psu.ip.',
      cause,
    });
  } finally {
    socket.close();
  }
}

/** Whether the name has an address at all. One with IPv6 addresses alone is known. */
async function hasAddress(hostname: string): Promise<boolean> {
  try {
    await lookup(hostname.replace(/^\[|\]$/g, ''));
    return true;
  } catch {
    return false;
  }
}
