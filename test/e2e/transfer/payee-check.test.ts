import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readError } from '../support/errors.ts';
import { terminalOf } from '../support/in-terminal.ts';
import { keepRunning, readDocument, useLoggedIn } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';
import { stepsOf } from '../support/verbose.ts';

const operator = keepRunning(useLoggedIn());
const inTerminal = terminalOf(operator);
const ORDER = [
  ...['transfer', '--from', '0010482620', '--to', 'DE89370400440532013000', '--name', 'Ada Lovelace'],
  ...['--amount', '6.00'],
];
const pay = (args: string[], env: Record<string, string>) =>
  operator.psd2([...ORDER, '--json', '--verbose', ...args], { env });
const newest = async () => (await operator.json(shapes.transfers, ['transfer', 'list']))[0];

/** A payee check that records its input and prints this. */
function checker(name: string, ...lines: string[]): { PSD2_PAYEE_CHECK: string } {
  const path = join(operator.folder, name);
  writeFileSync(path, ['#!/bin/sh', `cat > '${path}.asked'`, ...lines, ''].join('\n'), { mode: 0o700 });
  return { PSD2_PAYEE_CHECK: `'${path}'` };
}
const saying = (name: string, answer: object) => checker(name, `echo '${JSON.stringify(answer)}'`);

describe('a payee check in a pipeline', () => {
  it('a payee check that finds a match lets an instant transfer continue, and psd2 keeps its result', async () => {
    const ended = await pay(
      ['--instant', '--yes', '--payee-source', 'payee'],
      saying('match', { result: 'match', name: 'ADA LOVELACE' }),
    );
    expect(ended.code, ended.stderr).toBe(0);
    const { flow, state, payeeCheck } = readDocument(shapes.transfer, ended.stdout);
    expect(state).toBe('settled');
    expect(payeeCheck).toEqual({ result: 'match', name: 'ADA LOVELACE', problem: null });
    expect(ended.stderr).toMatch(/Payee check +match, the account is held by ADA LOVELACE/);
    expect(JSON.parse(readFileSync(join(operator.folder, 'match.asked'), 'utf8'))).toEqual({
      iban: 'DE89370400440532013000',
      name: 'Ada Lovelace',
    });
    const shown = await operator.json(shapes.transfer, ['transfer', 'show', flow]);
    expect(shown.payeeCheck).toEqual(payeeCheck);
    const journal = readFileSync(join(operator.config, 'flows', 'sandbox', `${flow}.ndjson`), 'utf8');
    expect(journal).toMatch(/"type":"payee-checked".*"source":"payee"/);
  });
});

describe('a payee check at a terminal', () => {
  it.each([
    ['y\r', 0, 'settled'],
    ['n\r', 2, 'cancelled'],
  ])(
    'at a terminal the operator can overrule a payee check without a match: %j',
    async (answer, code, state) => {
      const env = saying('terminal', { result: 'none' });
      const psd2 = await inTerminal([...ORDER, '--instant', '--yes'], { env });
      await psd2.prints(/The payee check says: no match\. Is Ada Lovelace the right payee after all\?/);
      await psd2.write(answer);
      const ended = await psd2.ended;
      expect(ended.code, ended.stdout).toBe(code);
      expect(await newest()).toMatchObject({ state, payeeCheck: { result: 'none' } });
    },
  );
});

describe('the maximum amount of a profile', () => {
  it.each(['6', '6.0', '6.49'])(
    'no customer is asked if the fee of the bank takes the amount above the maximum of %s',
    async (limit) => {
      const ended = await pay(['--yes'], { PSD2_MAX_AMOUNT: limit });
      expect(readError(ended)).toMatchObject({
        code: 'invalid_amount',
        exitCode: 2,
        message: expect.stringContaining('takes 6.50 from the account'),
      });
      expect(stepsOf(ended)).toEqual(['verify']);
      expect(await newest()).toMatchObject({ state: 'cancelled' });
    },
  );
});

describe('a production profile', () => {
  const MARK = '[PRODUCTION sandbox]';

  it('psd2 marks a production profile in its output and its questions', async () => {
    const env = { PSD2_ENVIRONMENT: 'production', NO_COLOR: '1' };
    const psd2 = await inTerminal([...ORDER, '--instant'], { env });
    await psd2.prints(
      /\[PRODUCTION sandbox\] Have you verified that DE89370400440532013000 belongs to Ada Lovelace/,
    );
    await psd2.write('y\r');
    await psd2.prints(/\[PRODUCTION sandbox\] Ask the customer to authorise this transfer\?/);
    await psd2.write('y\r');
    const { code, stdout } = await psd2.ended;
    expect(code, stdout).toBe(0);
    expect(stdout).toContain(`${MARK} The bank has verified this transfer`);
    expect(stdout).toContain(`${MARK} Opening in the browser`);
  });
});
