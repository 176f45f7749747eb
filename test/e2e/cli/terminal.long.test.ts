import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import Big from 'big.js';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { sample } from '../../support/sample.ts';
import { terminalOf } from '../support/in-terminal.ts';
import {
  type Environment,
  keepRunning,
  REFUSING_CUSTOMER,
  type Running,
  useLoggedIn,
} from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const ACCOUNT = '0010482620';
const ORDER = [
  ...['transfer', 'create', '--from', ACCOUNT, '--to', 'DE89370400440532013000'],
  ...['--name', 'Ada Lovelace', '--amount', '6.00'],
];
const CONFIRM = /Ask the customer to authorise this transfer\?/;
const PAYEE = /Have you verified that DE89370400440532013000 belongs to Ada Lovelace\?/;
const CTRL_C = '\u0003';
const operator = keepRunning(useLoggedIn());

const inTerminal = terminalOf(operator);

const newest = async () => (await operator.json(shapes.transfers, ['transfer', 'list']))[0];

describe('questions at a terminal', () => {
  it('questions show what the bank verified, and a yes sends the customer', async () => {
    const psd2 = await inTerminal(ORDER);
    await psd2.prints(CONFIRM);
    await psd2.write('y\r');
    const { code, stdout } = await psd2.ended;
    const screen = stripVTControlCharacters(stdout);
    expect(code, screen).toBe(0);
    expect(screen).toMatch(
      /The bank has verified this transfer:\s+From +0010482620\s+Payee +Ada Lovelace\s+IBAN +DE89 3704/,
    );
    expect(screen).toMatch(/Amount +6.00 EUR\s+Commission +0.50 EUR\s+Total +6.50 EUR/);
    expect(screen).toMatch(/Paid 6\.00 EUR to Ada Lovelace, executed after \d+ s, CRO \d+, tr-\w+\./);
    expect(await newest()).toMatchObject({ state: 'executed' });
  });

  it('psd2 asks for the missing parts of a transfer, and checks each as it is typed', async () => {
    const { availableBalance } = await operator.json(shapes.balance, ['accounts', 'balance', ACCOUNT]);
    const available = new Big(availableBalance?.amount ?? '').toFixed(2);
    const psd2 = await inTerminal(['transfer', '--reference', 'ASKED-1', '--payee-source', 'payee']);
    await psd2.prints(/Which account do you want to debit\?/);
    const [, shown] = await psd2.prints(/0010482620 {2}Conto di casa +(\d+\.\d\d) EUR {2}IT89 F099/);
    expect(shown).toBe(available);
    await psd2.write('\r');
    await psd2.prints(/Payee's name:/);
    await psd2.write('Ada Lovelace\r');
    await psd2.prints(/Payee's IBAN:/);
    await psd2.write('DE00\r');
    await psd2.prints(/The IBAN "DE00" has 4 characters/);
    await psd2.write('\u0015DE89 3704 0044 0532 0130 00\r');
    await psd2.prints(/Amount in EUR/);
    await psd2.write('6,00\r');
    await psd2.prints(/has a decimal comma/);
    await psd2.write('\u00156.00\r');
    await psd2.prints(/Description for the payee/);
    await psd2.write('\r');
    await psd2.prints(CONFIRM);
    await psd2.write('y\r');
    const { code, stdout } = await psd2.ended;
    const screen = stripVTControlCharacters(stdout);
    expect(code, screen).toBe(0);
    expect(screen).toContain('From          IT89F0999001600000010482620 (0010482620)');
    expect(screen).toMatch(/Name given by +the payee/);
    expect(screen).toMatch(
      /Paid 6\.00 EUR to Ada Lovelace, executed after \d+ s, CRO \d+, reference ASKED-1, tr-\w+\./,
    );
    expect(await newest()).toMatchObject({
      state: 'executed',
      from: ACCOUNT,
      reference: 'ASKED-1',
      payeeSource: 'payee',
    });
  });

  it('psd2 also asks if the terminal does not know its width', async () => {
    const psd2 = await inTerminal(ORDER, { columns: 0 });
    await psd2.prints(CONFIRM);
    await psd2.write('y\r');
    const { code, stdout } = await psd2.ended;
    expect(code, stdout).toBe(0);
  });

  it.each([['n\r'], ['\r']])(
    'psd2 takes %j for no, and cancels before it asks the customer',
    async (answer) => {
      const psd2 = await inTerminal([...ORDER, '--verbose']);
      await psd2.prints(CONFIRM);
      await psd2.write(answer);
      const { code, stdout } = await psd2.ended;
      expect(code).toBe(2);
      expect(stdout).toContain('The transfer was cancelled before the customer was asked');
      expect(stdout).not.toContain('/approach');
      expect(await newest()).toMatchObject({ state: 'cancelled', authorizationStatus: null });
    },
  );

  it('questions ask for the payee of an instant transfer first, even with --yes', async () => {
    const env = { PSD2_BROWSER: REFUSING_CUSTOMER };
    const psd2 = await inTerminal([...ORDER, '--instant', '--yes'], { env });
    await psd2.prints(PAYEE);
    await psd2.write('y\r');
    const { code, stdout } = await psd2.ended;
    expect(code, stdout).toBe(6);
    expect(stdout).not.toMatch(CONFIRM);
    expect(await newest()).toMatchObject({ state: 'rejected', instant: true });
  });

  it('psd2 pays no payee that is not verified', async () => {
    const psd2 = await inTerminal([...ORDER, '--instant', '--quiet']);
    await psd2.prints(PAYEE);
    await psd2.write('n\r');
    const { code, stdout } = await psd2.ended;
    expect(code).toBe(2);
    // Who decides sees the payment, also with --quiet.
    expect(stdout).toMatch(/The bank has verified this transfer:[\s\S]*Amount +6\.00 EUR/);
    expect(stdout).not.toMatch(CONFIRM);
    expect(await newest()).toMatchObject({ state: 'cancelled' });
  });

  it('questions are on the terminal while stdout goes to a file', async () => {
    const file = join(operator.folder, 'transfer.json');
    const psd2 = await inTerminal([...ORDER, '--json'], { to: file });
    await psd2.prints(CONFIRM);
    await psd2.write('y\r');
    const { code, stdout } = await psd2.ended;
    expect(code, stdout).toBe(0);
    const written = shapes.transfer.parse(JSON.parse(readFileSync(file, 'utf8')));
    expect(written).toEqual(await newest());
  });

  it('psd2 asks nothing with --no-input', async () => {
    const psd2 = await inTerminal([...ORDER, '--no-input']);
    const { code, stdout } = await psd2.ended;
    expect(code).toBe(2);
    expect(stdout).toContain('psd2 cannot ask without a terminal');
  });

  it('psd2 does not echo a secret', async () => {
    const certificate = (name: string) => join(operator.config, 'sandbox', 'certificates', name);
    const psd2 = await inTerminal([
      ...['profile', 'add', 'asked', '--qwac-cert', certificate('qwac.pem')],
      ...['--qwac-key', certificate('qwac-key.pem')],
    ]);
    for (const [question, answer] of [
      [/Base URL of the bank/, 'https://psd2.bank.example'],
      [/Client id/, 'the-client-id'],
      [/Client secret/, 'what-nobody-sees'],
      [/Application name/, 'the-application'],
    ] as const) {
      await psd2.prints(question);
      await psd2.write(`${answer}\r`);
    }
    const { code, stdout } = await psd2.ended;
    expect(code, stdout).toBe(0);
    expect(stdout).toContain('the-client-id');
    // The secret is there neither in one piece nor letter by letter.
    expect(stripVTControlCharacters(stdout)).not.toMatch(/what-|nobody|-sees/);
    expect(stdout).not.toContain('toggle');
    const stored = JSON.parse(readFileSync(join(operator.config, 'profiles', 'asked.json'), 'utf8'));
    expect(stored).toMatchObject({
      baseUrl: 'https://psd2.bank.example/',
      clientId: 'the-client-id',
      clientSecret: 'what-nobody-sees',
      applicationName: 'the-application',
    });
  });
});

describe('Ctrl-C at a terminal', () => {
  it('Ctrl-C at a question exits with 130 and says how to continue', async () => {
    const psd2 = await inTerminal(ORDER);
    await psd2.prints(CONFIRM);
    await psd2.write(CTRL_C);
    const { code, stdout } = await psd2.ended;
    expect(code).toBe(130);
    const flow = await newest();
    expect(flow?.state).toBe('verified');
    expect(stdout).toContain(`Continue with: psd2 transfer resume ${flow?.flow}`);
  });

  it('Ctrl-D at a question does the same as Ctrl-C', async () => {
    const psd2 = await inTerminal(ORDER);
    await psd2.prints(CONFIRM);
    await psd2.write('\u0004');
    const { code, stdout } = await psd2.ended;
    expect(code, stdout).toBe(130);
    const flow = await newest();
    expect(flow?.state).toBe('verified');
    expect(stdout).toContain(`Continue with: psd2 transfer resume ${flow?.flow}`);
    expect(stdout).not.toContain('bug');
  });

  it('Ctrl-C while psd2 waits for the customer exits with 130, and leaves the cursor visible', async () => {
    const psd2 = await inTerminal([...ORDER, '--yes'], { env: { PSD2_BROWSER: 'none' } });
    await psd2.prints(/Waiting for the customer to authorise the transfer/);
    await psd2.write(CTRL_C);
    const { code, stdout } = await psd2.ended;
    expect(code).toBe(130);
    const flow = await newest();
    expect(flow?.state).toBe('authorizing');
    expect(stdout).toContain(`Continue with: psd2 transfer resume ${flow?.flow}`);
    expect(stdout).toContain(HIDE_CURSOR);
    expect(stdout.lastIndexOf(SHOW_CURSOR)).toBeGreaterThan(stdout.lastIndexOf(HIDE_CURSOR));
  });
});

describe('the wait for the customer', () => {
  const waiting = (args: string[], env: Environment = {}, columns = 120) =>
    inTerminal(args, { columns, env: { PSD2_BROWSER: 'none', ...env } });
  /** Stops the wait. @returns what the terminal showed until then */
  const stop = async (psd2: Running) => {
    await psd2.write(CTRL_C);
    const { stdout } = await psd2.ended;
    return stripVTControlCharacters(stdout).replaceAll('\r', '');
  };

  it('the wait counts down', async () => {
    const psd2 = await waiting(['auth', 'login', '--sca-timeout', '62']);
    await psd2.prints(/log in \(1:0[12] left\)/);
    await psd2.prints(/log in \(0:59 left\)/);
    expect(await stop(psd2)).toMatch(
      /^Open this address in the customer's browser:\n {2}http:\/\/127\.0\.0\.1:\d+\/login/m,
    );
  });

  it('the wait is announced once, and ends, if the terminal does not know its width', async () => {
    const psd2 = await waiting(['auth', 'login', '--sca-timeout', '2'], {}, 0);
    const { code, stdout } = await psd2.ended;
    expect(code, stdout).toBe(6);
    expect(stripVTControlCharacters(stdout).match(/Waiting for the customer to log in/g)).toHaveLength(1);
  });

  it('over ssh the wait says how the browser comes back', async () => {
    const port = await freePort();
    const env = { PSD2_REDIRECT_URI: `http://127.0.0.1:${port}/callback` };
    const psd2 = await waiting(['auth', 'login'], { ...env, SSH_CONNECTION: '192.0.2.1 1 192.0.2.2 22' });
    await psd2.prints(/Waiting for the customer/);
    expect(await stop(psd2)).toContain(`ssh -N -L ${port}:127.0.0.1:${port} `);
    const local = await waiting(['auth', 'login'], env);
    await local.prints(/Waiting for the customer/);
    expect(await stop(local)).not.toContain('ssh -');
  });

  it('--qr shows a code for a phone, asks the bank for the decision, and opens nothing', async () => {
    const psd2 = await inTerminal([...ORDER, '--yes', '--qr']);
    await psd2.prints(/Waiting for the customer's decision/);
    const [, address = ''] = await psd2.prints(/customer's browser:\s+(\S+)/);
    await operator.psd2(['sandbox', 'customer', address]);
    const { code, stdout } = await psd2.ended;
    expect(code, stdout).toBe(0);
    expect(stripVTControlCharacters(stdout)).toMatch(/█▀▀▀▀▀█.*█▀▀▀▀▀█/);
    expect(stdout).not.toContain('Opening in the browser');
    expect(await newest()).toMatchObject({ state: 'executed' });
  });

  it('--paste asks for the address at which the browser ended, and asks again if it is another one', async () => {
    const port = await freePort();
    const redirect = `http://127.0.0.1:${port}/callback`;
    const psd2 = await inTerminal(['auth', 'login', '--paste', '--no-browser'], {
      env: { PSD2_REDIRECT_URI: redirect },
    });
    const [, address = ''] = await psd2.prints(/customer's browser:\s+(\S+)/);
    await psd2.prints(/The address that the browser ended at/);
    // The browser ends on another machine. psd2 does not listen there.
    const visited: string[] = [];
    const elsewhere = createServer(({ url = '' }, response) => {
      visited.push(url);
      response.end();
    }).listen(port, '127.0.0.1');
    await once(elsewhere, 'listening');
    await operator.psd2(['sandbox', 'customer', address]);
    elsewhere.close();
    await psd2.write(`${address}\r`);
    await psd2.prints(/The pasted address is not at [\s\S]*The address that the browser ended at/);
    await psd2.write(`${new URL(visited[0] ?? '', redirect)}\r`);
    const { code, stdout } = await psd2.ended;
    expect(code, stdout).toBe(0);
    expect(stdout).not.toContain('Opening in the browser');
    expect(stdout).toContain('Next:\r\n  psd2 accounts list\r\n  psd2 consent request ');
  });

  it('--paste says on its own line that the browser did not open, and asks again', async () => {
    const go = join(operator.folder, 'browser-may-fail');
    const psd2 = await inTerminal(['auth', 'login', '--paste'], {
      env: { PSD2_BROWSER: `sh -c 'until [ -e "${go}" ]; do sleep 0.05; done; exit 3'` },
    });
    await psd2.prints(/The address that the browser ended at/);
    writeFileSync(go, '');
    await psd2.prints(/by hand:\r\n {2}\S+\r\n\? The address that the browser ended at /);
    const screen = await stop(psd2);
    expect(screen).toMatch(/\n[^?\n]*ended with the exit code 3\. Open this address by hand:\n/);
  });

  it('--no-browser opens nothing for SCA either', async () => {
    const psd2 = await inTerminal([...ORDER, '--yes', '--no-browser']);
    const [, address = ''] = await psd2.prints(/customer's browser:\s+(\S+)/);
    await psd2.prints(/Waiting for the customer to authorise the transfer \(/);
    await operator.psd2(['sandbox', 'customer', address]);
    expect(await psd2.ended).toMatchObject({ code: 0 });
  });

  it('--qr shows only the address if the terminal is too small', async () => {
    const psd2 = await waiting(['auth', 'login', '--qr'], {}, 30);
    await psd2.prints(/Waiting for the customer/);
    const screen = await stop(psd2);
    expect(screen).toMatch(/too long for a\s+QR code/);
    expect(screen).not.toContain('█▀▀▀▀▀█');
  });
});

describe('a pager', () => {
  const list = (limit: string, env: Environment) =>
    inTerminal(['accounts', 'transactions', ACCOUNT, '--limit', limit], { env });

  it('a pager shows a list that is longer than the terminal, and can be left at any time', async () => {
    const psd2 = await list('100', { PAGER: 'less' });
    await psd2.prints(/\n:/);
    await psd2.write('q');
    const { code, stdout } = await psd2.ended;
    expect(code, stdout).toBe(0);
    expect(stripVTControlCharacters(stdout).match(/^\S+ +\d{4}-/gm)?.length).toBeLessThan(60);
  });

  it('a pager has Ctrl-C for itself', async () => {
    const pager = `trap 'echo caught; exit' INT; cat > /dev/null; echo ready; while :; do sleep 0.1; done`;
    const psd2 = await list('100', { PAGER: `sh -c "${pager}"` });
    await psd2.prints(/ready/);
    await psd2.write(CTRL_C);
    expect(await psd2.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('caught') });
  });

  const unpaged: [string, Environment][] = [
    ['5', { PAGER: 'false' }],
    ['100', { PAGER: '' }],
    ['100', { PAGER: 'cat' }],
    ['100', { PAGER: 'false', PSD2_PAGER: '' }],
    ['100', { PAGER: 'no-such-pager' }],
  ];
  it.each(sample(unpaged, 2, JSON.stringify))(
    'psd2 uses no pager for %s rows with %j',
    async (limit, env) => {
      const { code, stdout } = await (await list(limit, env)).ended;
      expect(code).toBe(0);
      expect(stripVTControlCharacters(stdout).match(/^\S+ +\d{4}-/gm)).toHaveLength(Number(limit));
    },
  );

  it('a pager gets no secret', async () => {
    const file = join(operator.folder, 'pager-environment');
    const env = { PAGER: `sh -c 'env > "${file}"; cat > /dev/null'`, PSD2_CLIENT_SECRET: 'not-for-pagers' };
    await (await list('100', env)).ended;
    const given = readFileSync(file, 'utf8');
    expect(given).toContain('LESS=FRX');
    expect(given).not.toContain('not-for-pagers');
  });
});

describe('tables on a terminal', () => {
  /** The lines that a command shows. */
  const shown = async (args: string[], options?: { columns?: number; env?: Environment }) => {
    const { code, stdout } = await (await inTerminal([...args, '--quiet'], options)).ended;
    expect(code, stdout).toBe(0);
    return stdout.replaceAll('\r\n', '\n').trimEnd().split('\n');
  };

  it('tables have a heading, with the columns below it', async () => {
    const [heading = '', ...rows] = (await shown(['accounts', 'list'])).map(stripVTControlCharacters);
    expect(heading.split(/ {2,}/)).toEqual(['ACCOUNT', 'IBAN', 'CURRENCY', 'NAME', 'TYPE']);
    expect(rows).toHaveLength(3);
    const starts = ['IBAN', 'CURRENCY', 'NAME', 'TYPE'].map((title) => heading.indexOf(title));
    for (const row of rows) {
      expect(row).not.toContain('\t');
      for (const start of starts) expect(row.slice(start - 2, start)).toBe('  ');
      expect(row.slice(starts[1], starts[2]).trim()).toBe('EUR');
    }
  });

  it('tables align amounts to the right', async () => {
    const [heading = '', ...rows] = (await shown(['accounts', 'transactions', ACCOUNT, '--limit', '20'])).map(
      stripVTControlCharacters,
    );
    const end = heading.indexOf('AMOUNT') + 'AMOUNT'.length;
    expect(rows).toHaveLength(20);
    for (const row of rows) {
      expect(row.slice(0, end)).toMatch(/ [+-]\d+\.\d{2}$/);
      expect(row.slice(end)).toMatch(/^ {2}EUR( |$)/);
    }
  });

  it.each([[60], [80]])('tables fit into %i columns, with whole amounts', async (columns) => {
    const wide = await shown(['accounts', 'transactions', ACCOUNT, '--limit', '20'], { columns: 200 });
    const lines = await shown(['accounts', 'transactions', ACCOUNT, '--limit', '20'], { columns });
    expect(Math.max(...wide.map((line) => line.length))).toBeGreaterThan(columns);
    // A long text has further lines, without an amount.
    const amounts = (rows: string[]) => rows.flatMap((row) => /[+-]\d+\.\d{2}/.exec(row)?.[0] ?? []);
    expect(amounts(lines)).toEqual(amounts(wide));
    for (const line of lines) expect(stripVTControlCharacters(line).length).toBeLessThanOrEqual(columns);
  });

  it('tables are readable if the terminal does not know its width', async () => {
    const lines = await shown(['accounts', 'list'], { columns: 0 });
    expect(lines.join('\n')).toContain('IT89F0999001600000010482620');
  });

  it('tables become records if the terminal is too narrow', async () => {
    const lines = await shown(['accounts', 'list'], { columns: 40 });
    expect(lines.slice(0, 3).map(stripVTControlCharacters)).toEqual([
      'ACCOUNT   0010482620',
      'IBAN      IT89F0999001600000010482620',
      'CURRENCY  EUR',
    ]);
  });

  it('tables show times in one form, as local time without a zone', async () => {
    const { flow = '', createdAt = '' } = (await newest()) ?? {};
    // 5:45 hours ahead of UTC.
    const env = { TZ: 'Asia/Kathmandu' };
    const local = new Date(Date.parse(createdAt) + 345 * 60_000).toISOString().slice(0, 16).replace('T', ' ');
    for (const args of [
      ['consent', 'list'],
      ['auth', 'list'],
      ['transfer', 'list'],
      ['log', '--limit', '5'],
      ['log', '--transaction', flow],
      ['cert', 'inspect'],
    ]) {
      const screen = (await shown(args, { columns: 200, env })).join('\n');
      if (args[0] === 'transfer') expect(screen).toContain(local);
      expect(screen).toMatch(/^(.* )?\d{4}-\d{2}-\d{2} \d{2}:\d{2}(:\d{2}(\.\d{3})?)?( |$)/m);
      expect(screen).not.toMatch(/\dT\d/);
    }
  });

  it('records mark the chosen customer too', async () => {
    const lines = (await shown(['auth', 'list'], { columns: 30 })).map(stripVTControlCharacters);
    expect(lines[0]).toMatch(/^CUSTOMER +1048262 \*$/);
    expect(lines[1]).toMatch(/^GRANT /);
  });

  it('tables show how long a consent and a login are valid', async () => {
    const screen = async (args: string[]) =>
      stripVTControlCharacters((await shown(args, { columns: 200 })).join('\n'));
    expect(await screen(['consent', 'list'])).toMatch(
      /confirmed +ACCOUNT_INFO, PAYMENTS +0010482620 .* 180 +1048262$/m,
    );
    expect(await screen(['auth', 'list'])).toMatch(/1048262 +authorization_code +good /);
  });

  it('JSON on a terminal is an indented document', async () => {
    const lines = await shown(['accounts', 'list', '--json']);
    expect(lines[0]).toBe('[');
    expect(shapes.accounts.parse(JSON.parse(lines.join('\n')))).toHaveLength(3);
  });
});

describe('output that is not a table', () => {
  const screen = async (args: string[], env: Environment = {}) => {
    const { stdout } = await (await inTerminal([...args, '--quiet'], { columns: 60, env })).ended;
    return stripVTControlCharacters(stdout).replaceAll('\r', '').trimEnd().split('\n');
  };

  const printed = [
    [['accounts', 'transactions', '--help']],
    [['operation', '--help']],
    [['help', 'environment']],
    [['help', 'exit-codes']],
    [['doctor']],
    [['cert', 'check']],
  ];
  it.each(sample(printed, 2, JSON.stringify))(
    'psd2 %j fits into a narrow terminal, broken between words',
    async (args) => {
      const lines = await screen(args);
      expect(lines.length).toBeGreaterThan(5);
      // Commands, addresses and paths stay whole, so that they can be copied.
      const broken = lines.filter((line) => line.length > 60 && !/^ *\$ |^ *\S+$/.test(line));
      expect(broken).toEqual([]);
    },
  );

  it('psd2 cert check shows its checks one below the other', async () => {
    const lines = await screen(['cert', 'check']);
    expect(lines[0]).toBe('ok    QWAC');
    expect(lines[1]).toMatch(/^ {6}valid until /);
  });
});

describe('colour on a terminal', () => {
  it('tables have colour on a terminal', async () => {
    const { stdout } = await (await inTerminal(['accounts', 'list'])).ended;
    expect(stdout).toMatch(COLOUR);
  });

  const colourless: [args: string[], env: Environment][] = [
    [[], { NO_COLOR: '1' }],
    [['--no-color'], {}],
    [['--no-color'], { FORCE_COLOR: '1' }],
  ];
  it.each(sample(colourless, 1, JSON.stringify))('there is no colour with %j and %j', async (args, env) => {
    const table = await (await inTerminal(['accounts', 'list', ...args], { env })).ended;
    expect(table.code).toBe(0);
    expect(table.stdout).not.toMatch(COLOUR);
    const psd2 = await inTerminal([...ORDER, ...args], { env });
    await psd2.prints(CONFIRM);
    await psd2.write('y\r');
    const { code, stdout } = await psd2.ended;
    expect(code, stdout).toBe(0);
    expect(stdout).not.toMatch(COLOUR);
  });

  const piped: [format: string[], env: Environment, isThere: boolean][] = [
    [[], { FORCE_COLOR: '1' }, true],
    [[], { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
    [['--no-color'], { FORCE_COLOR: '1' }, false],
    [['--json'], { FORCE_COLOR: '1' }, false],
    [['-o', 'csv'], { FORCE_COLOR: '1' }, false],
    [[], {}, false],
  ];
  it.each(sample(piped, 2, JSON.stringify))(
    'in a pipe with %j and %j, the amounts of a table have colour: %j',
    async (format, env, isThere) => {
      const rows = ['accounts', 'transactions', ACCOUNT, '--limit', '3', ...format];
      const plain = await operator.psd2(rows);
      const { code, stdout } = await operator.psd2(rows, { env });
      expect(code).toBe(0);
      expect(COLOUR.test(stdout)).toBe(isThere);
      expect(stripVTControlCharacters(stdout)).toBe(plain.stdout);
    },
  );
});

const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with it
const COLOUR = /\u001b\[[\d;]*m/;
