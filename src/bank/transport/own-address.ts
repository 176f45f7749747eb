import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { Psd2Error } from '../../errors.ts';

/**
 * The IPv4 address that this machine calls a bank from, as its routes say. Nothing is sent.
 *
 * @throws Psd2Error `config` if there is no way to the bank over IPv4
 */
export async function ownAddressTowards({ hostname, port }: URL): Promise<string> {
  const socket = createSocket('udp4');
  try {
    socket.connect(Number(port || '443'), hostname);
    await once(socket, 'connect');
    return socket.address().address;
  } catch (cause) {
    throw new Psd2Error('config', 'psd2 does not know the IPv4 address that it calls the bank from', {
      hint: 'Name it in the bank file, as psu.ip.',
      cause,
    });
  } finally {
    socket.close();
  }
}
