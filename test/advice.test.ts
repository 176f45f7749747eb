import { describe, expect, it } from 'vitest';
import { ACCESS, commandOf, isForCustomer } from '../src/advice.ts';
import { buildProgram } from '../src/cli/program.ts';
import { leaves } from './cli/leaves.ts';

/** Every command that acts for a customer or shows what belongs to one, if it is not about a flow that the operator names. */
const FOR_A_CUSTOMER = [
  ...['accounts balance', 'accounts export', 'accounts list', 'accounts report', 'accounts show'],
  ...[
    'accounts transactions',
    'api',
    'auth login',
    'auth logout',
    'auth refresh',
    'auth status',
    'auth token',
    'batch list',
  ],
  ...[
    'consent list',
    'consent request',
    'customer export',
    'customer forget',
    'customer id',
    'customer show',
    'doctor',
    'operation list',
  ],
  ...['operation prepare', 'operation run', 'operation status', 'operation verify', 'products list'],
  ...['sync run', 'transfer create', 'transfer list', 'transfer prepare'],
];

describe('the commands that psd2 names', () => {
  it('every command acts for the customer that it is given, or for none, or for the customer of a flow', async () => {
    const all = leaves(await buildProgram('1.0.0'));
    expect(all.filter((name) => isForCustomer(name.split(' '))).toSorted()).toEqual(FOR_A_CUSTOMER);
  });

  const customer = '42';
  it.each([
    [['transfer', '--from', '1'], 'psd2 --customer 42 transfer --from 1'],
    [['sync'], 'psd2 --customer 42 sync'],
    [['sync', '--all-customers'], 'psd2 sync --all-customers'],
    [['transfer', '--help'], 'psd2 transfer --help'],
    [['transfer', 'resume', 'tr-1'], 'psd2 transfer resume tr-1'],
    [['auth', 'login'], 'psd2 --customer 42 auth login'],
    [['auth', 'login', '--client-credentials'], 'psd2 auth login --client-credentials'],
    [['--profile', 'a', 'auth', 'login'], 'psd2 --customer 42 --profile a auth login'],
    [['--profile', 'a', 'accounts', 'list'], 'psd2 --customer 42 --profile a accounts list'],
    [['--customer', '7', 'consent', 'request'], 'psd2 --customer 7 consent request'],
  ])('%j is written as %s', (words, written) => {
    expect(commandOf(words, { customer }).join(' ')).toBe(written);
  });

  it.each([
    ['nobody', ['--profile', 'a', 'auth', 'login'], 'psd2 --profile a consent request'],
    ['with a consent', ['auth', 'login', '--customer', '7'], 'psd2 consent request --customer 7'],
    ['application', ['auth', 'login'], 'psd2 auth login --client-credentials'],
    ['customers', ['--customer', '7', 'auth', 'login'], 'psd2 --customer 7 auth login'],
    ['nobody', ['auth', 'login', '--client-credentials'], 'psd2 auth login --client-credentials'],
    ['nobody', ['auth', 'logout'], 'psd2 auth logout'],
  ] as const)('where %s log in, %j is written as %s', (who, words, written) => {
    expect(commandOf(words, { login: ACCESS[who] }).join(' ')).toBe(written);
  });

  it('they repeat the profile and the customer of this command', () => {
    expect(commandOf(['accounts', 'list'], { profile: 'a', customer })).toEqual(
      'psd2 --profile a --customer 42 accounts list'.split(' '),
    );
    expect(commandOf(['accounts', 'list'], {})).toEqual(['psd2', 'accounts', 'list']);
  });
});
