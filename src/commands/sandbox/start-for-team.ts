import { isIP } from 'node:net';
import { isLoopback } from '../../domain/local-address.ts';
import { Psd2Error } from '../../errors.ts';
import type { SeededCustomer } from '../../sandbox/rules.ts';
import type { Outside } from '../../sandbox/server/server.ts';
import { readWholeNumber } from '../shared/option-values.ts';

/** The addresses that mean all of a computer, so that no client can use them. */
const ALL_ADDRESSES = ['0.0.0.0', '::'];

/**
 * Where others reach the sandbox: `--host` and `--name`.
 *
 * @returns undefined if the sandbox is for this computer only
 * @throws Psd2Error `usage`
 */
export function readOutside({ host, name }: { host?: string; name: string[] }): Outside | undefined {
  for (const one of name) requireName(one);
  if (host === undefined) {
    if (name.length === 0) return undefined;
    throw new Psd2Error('usage', '--name needs --host', {
      hint: 'For example --host 0.0.0.0, to listen on all addresses of this computer.',
    });
  }
  requireHost(host);
  if (isLoopback(new URL(`http://${isIP(host) === 6 ? `[${host}]` : host}`))) {
    if (name.length === 0 && host !== '::1') return undefined;
    throw new Psd2Error('usage', `--host ${host} is only for this computer`, {
      hint: 'Without --host and --name the sandbox listens on 127.0.0.1.',
    });
  }
  const names = name.length > 0 ? name : ALL_ADDRESSES.includes(host) ? [] : [host];
  if (names.length > 0) return { host, names: names.map((one) => one.toLowerCase()) };
  throw new Psd2Error('usage', `--host ${host} needs the --name that clients use`, {
    hint: 'For example --name bank.example. The certificate of the server and all links have it.',
  });
}

function requireHost(host: string): void {
  if (isIP(host) !== 0 || isHostName(host)) return;
  throw new Psd2Error('usage', `--host ${JSON.stringify(host)} is not an address of a computer`, {
    hint: 'For example --host 0.0.0.0.',
  });
}

function requireName(name: string): void {
  if ((isIP(name) !== 0 && !ALL_ADDRESSES.includes(name)) || isHostName(name)) return;
  throw new Psd2Error('usage', `--name ${JSON.stringify(name)} is not a host name or an IP address`, {
    hint: 'For example --name bank.example, without https:// and without a port.',
  });
}

/** RFC 1123, section 2.1. Digits and dots alone are not a name: they are a wrong address. */
function isHostName(text: string): boolean {
  const labels = text.split('.');
  return (
    text.length <= 253 &&
    !/^[\d.]+$/.test(text) &&
    labels.every((label) => /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i.test(label))
  );
}

/** The rule of `--seed`. @throws Psd2Error `usage` */
export async function readSeedOf(options: {
  seed?: string;
  customers?: string;
}): Promise<{ seed?: readonly SeededCustomer[] }> {
  const { seed, customers } = options;
  if (seed === undefined) return {};
  const { readSeed } = await import('../../sandbox/seed/read-seed.ts');
  const generated = customers === undefined ? 0 : readWholeNumber('--customers', customers, 1, 999_999);
  return { seed: await readSeed(seed, generated) };
}
