import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import Big from 'big.js';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { terminalOf } from '../support/in-terminal.ts';
import { type Environment, keepRunning, type Running, useLoggedIn, words } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const ACCOUNT = '0010482620';
const ORDER = words`transfer create --from ${ACCOUNT} --to DE89370400440532013000 --name ${'Ada Lovelace'}
  --amount 6.00`;
const CONFIRM = /Ask the customer to authorise this transfer\?/;
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

  it('a pager gets no secret', async () => {
    const file = join(operator.folder, 'pager-environment');
    const env = { PAGER: `sh -c 'env > "${file}"; cat > /dev/null'`, PSD2_CLIENT_SECRET: 'not-for-pagers' };
    await (await list('100', env)).ended;
    const given = readFileSync(file, 'utf8');
    expect(given).toContain('LESS=FRX');
    expect(given).not.toContain('not-for-pagers');
  });
});

/** The lines that a command shows. */
const shown = async (args: string[], options?: { columns?: number; env?: Environment }) => {
  const { code, stdout } = await (await inTerminal([...args, '--quiet'], options)).ended;
  expect(code, stdout).toBe(0);
  return stdout.replaceAll('\r\n', '\n').trimEnd().split('\n');
};

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

it('tables have colour on a terminal', async () => {
  const { stdout } = await (await inTerminal(['accounts', 'list'])).ended;
  expect(stdout).toMatch(COLOUR);
});

const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with it
const COLOUR = /\u001b\[[\d;]*m/;
