import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readError } from '../support/errors.ts';
import { terminalOf } from '../support/in-terminal.ts';
import { keepRunning, readDocument, useLoggedIn } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';
import { saidBy, stepsOf } from '../support/verbose.ts';

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

  it.each<[string, string[], string, RegExp]>([
    [
      'close',
      [`echo '{"result":"close","name":"Ada \\u001b[31mL."}'`],
      'close',
      /close match, the account is held by Ada �\[31mL\./,
    ],
    ['none', [`echo '{"result":"none"}'`], 'none', /no match/],
    ['unavailable', [`echo '{"result":"unavailable"}'`], 'unavailable', /not possible/],
    ['nonsense', ['echo yes'], 'unavailable', /not possible: .*did not print/],
    ['failing', [`echo '{"result":"match"}'; exit 1`], 'unavailable', /not possible: .*exit code 1/],
    ['slow', ['sleep 60'], 'unavailable', /not possible: .*did not answer within 1 s/],
  ])(
    'with --yes alone, a payee check with the outcome "%s" sends nobody to SCA',
    async (name, lines, result, said) => {
      for (const kind of [['--instant'], []]) {
        const limit = name === 'slow' ? ['--timeout', '1'] : [];
        const ended = await pay([...kind, '--yes', ...limit], checker(name, ...lines));
        expect(readError(ended)).toMatchObject({
          code: 'confirmation_needed',
          exitCode: 2,
          message: expect.stringMatching(said),
        });
        expect(stepsOf(ended)).not.toContain('approach');
        const { flow, state, payeeCheck } = readDocument(shapes.transfer, ended.stdout);
        expect(state).toBe('verified');
        expect(payeeCheck?.result).toBe(result);
        if (name !== 'none') continue;
        expect(readError(ended).hint).toContain(`psd2 transfer resume ${flow} --payee-verified --yes`);
        const resume = ['transfer', 'resume', flow, '--payee-verified', '--yes'];
        const resumed = await operator.json(shapes.transfer, resume);
        expect(resumed.state).toBe(kind.length > 0 ? 'settled' : 'executed');
        expect(resumed.payeeCheck).toEqual(payeeCheck);
      }
    },
  );

  it('the payee check does not run if the operator has verified the payee', async () => {
    const ended = await pay(['--instant', '--yes', '--payee-verified'], checker('unused', 'exit 1'));
    expect(ended.code, ended.stderr).toBe(0);
    expect(readDocument(shapes.transfer, ended.stdout).payeeCheck).toBeNull();
  });

  it('a payee check does not replace --yes', async () => {
    const before = await newest();
    const ended = await pay(['--instant'], saying('match', { result: 'match' }));
    expect(readError(ended)).toMatchObject({ code: 'confirmation_needed', exitCode: 2 });
    expect((await newest())?.flow).toBe(before?.flow);
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
  it('psd2 sends nothing if the amount is above the maximum', async () => {
    const before = await newest();
    const ended = await pay(['--yes'], { PSD2_MAX_AMOUNT: '5.99' });
    expect(readError(ended)).toMatchObject({
      code: 'invalid_amount',
      exitCode: 2,
      message: 'The amount 6.00 EUR is more than the 5.99 EUR that the profile sandbox allows',
    });
    expect(stepsOf(ended)).toEqual([]);
    expect((await newest())?.flow).toBe(before?.flow);
  });

  it.each(['6.5', '6.50', '1000'])(
    'an amount and the fee of the bank are allowed up to the maximum of %s',
    async (limit) => {
      expect(await pay(['--yes'], { PSD2_MAX_AMOUNT: limit })).toMatchObject({ code: 0 });
    },
  );

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

  it.each(['a lot', '-1', '6,00'])('the maximum amount cannot be %j', async (limit) => {
    const error = readError(await pay(['--yes'], { PSD2_MAX_AMOUNT: limit }));
    expect(error).toMatchObject({ code: 'config', exitCode: 3 });
  });
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

  it('psd2 marks a production profile in a pipeline too, and no other profile', async () => {
    const production = { env: { PSD2_ENVIRONMENT: 'production' } };
    expect((await operator.psd2([...ORDER, '--yes'], production)).stderr).toContain(`${MARK} Opening`);
    // The mark is in the events for programs too.
    expect(saidBy(await pay(['--yes'], production.env))).toContain(
      `${MARK} The bank has verified this transfer`,
    );
    expect((await pay(['--yes'], { PSD2_ENVIRONMENT: 'sandbox' })).stderr).not.toContain('PRODUCTION');
  });
});
