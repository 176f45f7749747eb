import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isOwnSandbox } from '../../../src/commands/sandbox/profile.ts';
import { readOutside } from '../../../src/commands/sandbox/start-for-team.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { failureOf } from '../failure.ts';

const read = (host: string | undefined, ...name: string[]) =>
  readOutside({ ...(host !== undefined && { host }), name });
const refused = (host: string | undefined, ...name: string[]) =>
  failureOf(Promise.resolve().then(() => read(host, ...name)));

const TWO = { host: '0.0.0.0', names: ['bank.example', '192.0.2.7'] };
it.each<[string, string | undefined, string[], object | undefined]>([
  ['nothing', undefined, [], undefined],
  ['this computer', '127.0.0.1', [], undefined],
  ['this computer, by its name', 'localhost', [], undefined],
  ['an address, which is its own name', '192.0.2.7', [], { host: '192.0.2.7', names: ['192.0.2.7'] }],
  ['an address of version 6', '2001:db8::7', [], { host: '2001:db8::7', names: ['2001:db8::7'] }],
  ['a host name', 'Bank.example', [], { host: 'Bank.example', names: ['bank.example'] }],
  ['all addresses, with two names', '0.0.0.0', ['Bank.example', '192.0.2.7'], TWO],
  ['all of version 6, with a name', '::', ['b'], { host: '::', names: ['b'] }],
])('a sandbox listens on %s', (_, host, names, outside) => {
  expect(read(host, ...names)).toEqual(outside);
});

const NAMES = 'For example --name bank.example. The certificate of the server and all links have it.';
const HOST = 'For example --host 0.0.0.0, to listen on all addresses of this computer.';
const ALONE = 'Without --host and --name the sandbox listens on 127.0.0.1.';
it.each<[string | undefined, string[], string, string]>([
  ['0.0.0.0', [], '--host 0.0.0.0 needs the --name that clients use', NAMES],
  ['::', [], '--host :: needs the --name that clients use', NAMES],
  [undefined, ['bank.example'], '--name needs --host', HOST],
  ['127.0.0.1', ['bank.example'], '--host 127.0.0.1 is only for this computer', ALONE],
  ['localhost', ['bank.example'], '--host localhost is only for this computer', ALONE],
  ['::1', [], '--host ::1 is only for this computer', ALONE],
])('the host %s with the names %j is refused', async (host, names, message, hint) => {
  expect(await refused(host, ...names)).toEqual({ code: 'usage', exitCode: 2, message, hint });
});

it.each([
  ...['', ' ', '1.2.3', '256.1.1.1', '-a.example', 'a-.example', 'a..b', 'a_b', 'https://a.b'],
  `${'a'.repeat(64)}.b`,
])('%j is neither a host nor a name', async (text) => {
  expect(await refused(text)).toEqual({
    ...{ code: 'usage', exitCode: 2, hint: 'For example --host 0.0.0.0.' },
    message: `--host ${JSON.stringify(text)} is not an address of a computer`,
  });
  expect(await refused('0.0.0.0', 'good.example', text)).toEqual({
    ...{ code: 'usage', exitCode: 2 },
    message: `--name ${JSON.stringify(text)} is not a host name or an IP address`,
    hint: 'For example --name bank.example, without https:// and without a port.',
  });
});

it('a name may have 63 characters between its dots and 253 in all, and all addresses are no name', async () => {
  const label = 'a'.repeat(63);
  expect(read('0.0.0.0', `${label}.b`)?.names).toEqual([`${label}.b`]);
  const long = [label, label, label, 'a'.repeat(61)].join('.');
  expect(read('0.0.0.0', long)?.names).toEqual([long]);
  expect((await refused('0.0.0.0', `${long}a`)).code).toBe('usage');
  expect((await refused('0.0.0.0', '0.0.0.0')).code).toBe('usage');
});

const folder = newConfigFolder(temporaryFolder());
it("only a profile with certificates in this configuration's sandbox folder is the sandbox's", () => {
  const isOwn = (path: string) => isOwnSandbox({ qwacCertificate: { path } }, { folder });
  expect(isOwn(join(folder.sandbox, 'certificates', 'qwac.pem'))).toBe(true);
  expect(isOwn('/etc/sandbox/qwac.pem')).toBe(false);
  expect(isOwn(join(`${folder.sandbox}-old`, 'certificates', 'qwac.pem'))).toBe(false);
  expect(isOwnSandbox({ qwacCertificate: { pem: '' } }, { folder })).toBe(false);
});
