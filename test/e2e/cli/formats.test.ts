import { parse as parseCsv } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { readError } from '../support/errors.ts';
import { keepRunning, useLoggedIn } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const ACCOUNT = '0010482620';
const operator = keepRunning(useLoggedIn());

describe('--query', () => {
  it('--query filters the output of --json, and does not need --json', async () => {
    const accounts = await operator.json(shapes.accounts, ['accounts', 'list']);
    const ids = await operator.psd2(['accounts', 'list', '--query', '[].productId']);
    expect(ids).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(ids.stdout)).toEqual(accounts.map(({ productId }) => productId));
    const first = await operator.psd2(['accounts', 'list', '--query', '[0].accountId', '-o', 'ndjson']);
    expect(first.stdout).toBe(`"${accounts[0]?.productId}"\n`);
  });

  it('-r prints strings without quotes, for a shell', async () => {
    const accounts = await operator.json(shapes.accounts, ['accounts', 'list']);
    const ibans = await operator.psd2(['accounts', 'list', '--query', '[].iban', '-r']);
    expect(ibans).toMatchObject({ code: 0, stderr: '' });
    expect(ibans.stdout).toBe(accounts.map(({ iban }) => `${iban}\n`).join(''));
    const alone = await operator.psd2(['accounts', 'list', '--raw-output', '--json']);
    expect(readError(alone)).toMatchObject({ code: 'usage', exitCode: 2 });
  });

  it('--query works with paged lists, with one object, and with any call', async () => {
    const count = await operator.psd2([
      ...['accounts', 'transactions', ACCOUNT, '--limit', '25', '-o', 'ndjson', '--query', 'length(@)'],
    ]);
    expect(count.stdout).toBe('25\n');
    const currency = await operator.psd2([
      ...['accounts', 'balance', ACCOUNT, '--query', 'accountBalance.currency'],
    ]);
    expect(currency.stdout).toBe('"EUR"\n');
    const path = '/private/customers/customerid-info';
    const id = await operator.psd2(['api', 'GET', path, '--query', 'data.customerid']);
    expect(id.stdout).toBe('"1048262"\n');
    const transfers = await operator.psd2(['transfer', 'list', '--query', '[].flow']);
    expect(transfers.stdout).toBe('[]\n');
  });

  it('an invalid --query stops a payment before psd2 sends anything', async () => {
    const ended = await operator.psd2([
      ...[
        'transfer',
        'create',
        '--from',
        ACCOUNT,
        '--to',
        'DE89370400440532013000',
        '--name',
        'Ada Lovelace',
      ],
      ...['--amount', '1.00', '--yes', '--query', 'state[', '--verbose'],
    ]);
    const error = readError(ended);
    expect(error).toMatchObject({ code: 'usage', exitCode: 2 });
    expect(error.message).toContain('at character 7');
    expect(ended.stdout).toBe('');
    expect(await operator.json(shapes.transfers, ['transfer', 'list'])).toEqual([]);
  });

  it('a --query that does not match leaves the error of the command as it is', async () => {
    const args = ['transfer', 'create', '--from', ACCOUNT, '--to', 'DE89370400440532013000', '--yes'];
    const ended = await operator.psd2(
      [...args, '--name', 'Ada Lovelace', '--amount', '1.00', '--query', 'length(cro)'],
      { env: { PSD2_BROWSER: `${operator.env.PSD2_BROWSER} --refuse` } },
    );
    expect(readError(ended)).toMatchObject({ code: 'not_authorised', exitCode: 6 });
    expect(ended.stdout).toBe('');
  });

  it.each([[['-o', 'table']], [['--raw']]])('--query cannot be combined with %j', async (args) => {
    const ended = await operator.psd2(['accounts', 'list', '--query', '[0]', ...args]);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('-o csv', () => {
  const read = async (...args: string[]) => {
    const ended = await operator.psd2([...args, '-o', 'csv']);
    expect(ended.code, ended.stderr).toBe(0);
    return parseCsv(ended.stdout, { columns: true });
  };

  it('-o csv prints the values of --json under the same names', async () => {
    const [accounts, balance] = [
      await operator.json(shapes.accounts, ['accounts', 'list']),
      await operator.json(shapes.balance, ['accounts', 'balance', ACCOUNT]),
    ];
    expect(await read('accounts', 'list')).toEqual(
      accounts.map((account) => ({ ...account, name: account.name ?? '' })),
    );
    expect(await read('accounts', 'balance', ACCOUNT)).toMatchObject([
      { productId: ACCOUNT, 'accountBalance.amount': balance.accountBalance?.amount },
    ]);
    const transactions = await operator.json(shapes.transactions, [
      ...['accounts', 'transactions', ACCOUNT, '--limit', '25'],
    ]);
    expect(await read('accounts', 'transactions', ACCOUNT, '--limit', '25')).toEqual(
      transactions.map((row) =>
        Object.fromEntries(
          Object.entries({ future: '', ...row }).map(([name, value]) => [name, String(value ?? '')]),
        ),
      ),
    );
  });

  it('-o csv prints the heading even without rows', async () => {
    const ended = await operator.psd2([
      'accounts',
      'transactions',
      ACCOUNT,
      '--from',
      '1999-01-01',
      '--to',
      '1999-01-02',
      '-o',
      'csv',
      '--yes',
    ]);
    expect(ended.stdout).toBe(
      'index,status,bookingDate,valueDate,amount,currency,description,details,code,transferReference,feeCharge,future\n',
    );
  });

  it('-o csv shows how many days a consent is still valid', async () => {
    expect(await read('consent', 'list')).toMatchObject([{ state: 'confirmed', daysLeft: '180' }]);
  });
});

describe('a text of many lines', () => {
  it.each(['bash', 'zsh', 'fish'])(
    'psd2 completion %s prints the same script after a global option',
    async (shell) => {
      const script = (await operator.psd2(['completion', shell])).stdout;
      expect(script.split('\n').length).toBeGreaterThan(10);
      expect(await operator.psd2(['--no-color', 'completion', shell])).toMatchObject({
        code: 0,
        stdout: script,
      });
    },
  );
});
