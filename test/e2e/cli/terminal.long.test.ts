import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import Big from 'big.js';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { terminalOf } from '../support/in-terminal.ts';
import { keepRunning, useLoggedIn, words } from '../support/psd2.ts';
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
    expect(stdout).toMatch(COLOUR);
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
    // The list leaves out the card, which cannot pay.
    expect([screen.includes('0010482638  Risparmi'), screen.includes('0000093017')]).toEqual([true, false]);
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
  it.each([
    ['Ctrl-C', CTRL_C, 120],
    // This terminal does not know its width either.
    ['Ctrl-D', '\u0004', 0],
  ])('%s at a question exits with 130 and says how to continue', async (_, key, columns) => {
    const psd2 = await inTerminal(ORDER, { columns });
    await psd2.prints(CONFIRM);
    await psd2.write(key);
    const { code, stdout } = await psd2.ended;
    expect(code, stdout).toBe(130);
    const flow = await newest();
    expect(flow?.state).toBe('verified');
    expect(stdout).toContain(`Continue with: psd2 transfer resume ${flow?.flow}`);
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
  it('the wait is announced once, and ends, if the terminal does not know its width', async () => {
    const login = ['auth', 'login', '--sca-timeout', '2'];
    const psd2 = await inTerminal(login, { columns: 0, env: { PSD2_BROWSER: 'none' } });
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
});

it('a pager has Ctrl-C for itself', async () => {
  const pager = `trap 'echo caught; exit' INT; cat > /dev/null; echo ready; while :; do sleep 0.1; done`;
  const list = ['accounts', 'transactions', ACCOUNT, '--limit', '100'];
  const psd2 = await inTerminal(list, { env: { PAGER: `sh -c "${pager}"` } });
  await psd2.prints(/ready/);
  await psd2.write(CTRL_C);
  expect(await psd2.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('caught') });
});

const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with it
const COLOUR = /\u001b\[[\d;]*m/;
