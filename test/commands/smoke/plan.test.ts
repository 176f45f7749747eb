import { Command } from '@commander-js/extra-typings';
import { expect, it } from 'vitest';
import { isKnown, type Plan, readPlan, withOptions } from '../../../src/commands/smoke/plan.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { STEP_IDS } from '../../../src/smoke/steps.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { type How, openCommand } from '../command.ts';

const temporary = temporaryFolder();
const NOW = '2026-11-26T12:00:00.000Z';
const IBAN = 'DE89370400440532013000';
const PAYEE = ['--to', IBAN, '--name', 'Ada'];

/** What psd2 reads from options. @throws Psd2Error */
function planOf(words: string[], how: How = {}): Plan {
  const { context } = openCommand(newConfigFolder(temporary), NOW, { format: 'table', ...how });
  const command = withOptions(new Command()).exitOverride();
  return readPlan(context, command.parse(words, { from: 'user' }).opts());
}

function refusalOf(words: string[], how?: How): string[] {
  try {
    planOf(words, how);
  } catch (error) {
    if (error instanceof Psd2Error) return [error.code, error.message, ...(error.hint ? [error.hint] : [])];
    throw error;
  }
  return [];
}

const USUAL = {
  ...{ login: 'kept', consent: 'kept', account: undefined, shapes: 'check', shapesFile: undefined },
  ...{ funds: false, initiate: false, pay: undefined, to: undefined, name: undefined, from: undefined },
  ...{ isChosen: false, isWanted: false, slowMs: 2_000, maxMs: undefined, retries: 0, withinDays: 14 },
  ...{ steps: new Set(STEP_IDS), wanted: new Map(), known: new Map(), failOn: new Set(), reports: [] },
};

it.each<[words: string[], changes: object]>([
  [[], {}],
  [['--login'], { login: 'new', wanted: new Map([['login', '--login']]) }],
  [['--no-login'], { login: 'none' }],
  [['--consent'], { consent: 'new', wanted: new Map([['consent', '--consent']]) }],
  [['--funds'], { funds: true, wanted: new Map([['funds', '--funds']]) }],
  [
    ['--account', '1'],
    {
      ...{ account: '1', isWanted: true },
      wanted: new Map(['accounts', 'balance', 'transactions'].map((id) => [id, '--account'])),
    },
  ],
  [
    ['--account', '1', '--skip', 'balance'],
    {
      ...{ account: '1', isWanted: true, steps: new Set(STEP_IDS.filter((id) => id !== 'balance')) },
      wanted: new Map(['accounts', 'transactions'].map((id) => [id, '--account'])),
    },
  ],
  [
    ['--initiate', ...PAYEE, '--from', '2'],
    { initiate: true, to: IBAN, name: 'Ada', from: '2', wanted: new Map([['initiate', '--initiate']]) },
  ],
  [
    ['--pay', '1', ...PAYEE],
    { pay: { amount: '1.00', maxFee: null }, to: IBAN, name: 'Ada', wanted: new Map([['pay', '--pay']]) },
  ],
  ...['0', '0.0', '0.00'].map((fee): [string[], object] => [
    ['--pay', '0.5', '--max-fee', fee, ...PAYEE],
    { pay: { amount: '0.50', maxFee: '0.00' }, to: IBAN, name: 'Ada', wanted: new Map([['pay', '--pay']]) },
  ]),
  [
    ['--pay', '1.00', '--max-fee', '0.5', ...PAYEE],
    { pay: { amount: '1.00', maxFee: '0.50' }, to: IBAN, name: 'Ada', wanted: new Map([['pay', '--pay']]) },
  ],
  [
    ['--steps', 'settings..signature,accounts'],
    {
      ...{ isChosen: true, wanted: new Map([['accounts', '--steps']]) },
      steps: new Set(['settings', 'certificates', 'connection', 'signature', 'accounts', 'clean-up']),
    },
  ],
  // The clean-up always runs.
  [
    ['--steps', 'accounts..pay', '--skip', 'funds..clean-up'],
    { isChosen: true, steps: new Set(['accounts', 'balance', 'transactions', 'clean-up']) },
  ],
  [
    ['--slow', '1s', '--max', '1m', '--retry', '10', '--within', '2w'],
    { slowMs: 1_000, maxMs: 60_000, retries: 10, withinDays: 14 },
  ],
  [['--slow', '1h', '--retry', '1', '--within', '3d'], { slowMs: 3_600_000, retries: 1, withinDays: 3 }],
  [['--fail-on', 'slow', '--fail-on', 'drift'], { failOn: new Set(['slow', 'drift']) }],
  [['--fail-on', 'flaky'], { failOn: new Set(['flaky']) }],
  [['--fail-on', 'skip'], { failOn: new Set(['skip']), isWanted: true }],
  [['--shapes', 'off'], { shapes: 'off' }],
  [['--shapes', 'learn', '--shapes-file', 'x.json'], { shapes: 'learn', shapesFile: 'x.json' }],
  [
    ['--known', 'accounts=2026-12-15', '--known', 'pay'],
    {
      known: new Map([
        ['accounts', '2026-12-15'],
        ['pay', null],
      ]),
    },
  ],
  [['--report', 'tap=x'], { reports: [{ form: 'tap', file: 'x' }] }],
])('the options %j', (words, changes) => {
  expect(planOf(words)).toEqual({ ...USUAL, ...changes });
});

it('the steps of a customer are wanted if the command line names one, and not if the environment does', () => {
  expect(planOf([], { globals: { customer: 'anna' } }).isWanted).toBe(true);
  expect(planOf([], { env: { PSD2_CUSTOMER: 'anna' } }).isWanted).toBe(false);
});

const SENT = 'psd2 has sent nothing.';
it.each<[words: string[], refusal: string[]]>([
  [
    ['--initiate', '--pay', '1', ...PAYEE],
    ['usage', '--initiate and --pay cannot be used together', 'Choose one.'],
  ],
  [
    ['--to', IBAN],
    ['usage', '--to needs --initiate or --pay'],
  ],
  [
    ['--name', 'Ada'],
    ['usage', '--name needs --initiate or --pay'],
  ],
  [
    ['--from', '1'],
    ['usage', '--from needs --initiate or --pay'],
  ],
  [
    ['--max-fee', '1'],
    ['usage', '--max-fee needs --pay'],
  ],
  [
    ['--max-fee', '1', '--initiate', ...PAYEE],
    ['usage', '--max-fee needs --pay'],
  ],
  [
    ['--initiate', '--to', IBAN],
    ['usage', '--initiate needs --to and --name: there is no default payee'],
  ],
  [
    ['--pay', '1', '--name', 'Ada'],
    ['usage', '--pay needs --to and --name: there is no default payee'],
  ],
  [
    ['--pay', '1.01', ...PAYEE],
    [
      'confirmation_needed',
      '--pay 1.01 is more than 1.00 EUR, so a person must confirm it',
      `${SENT} Run it at a terminal, or pay at most 1.00.`,
    ],
  ],
  [
    ['--pay', '01', ...PAYEE],
    ['usage', '--pay "01" begins with a zero too many', `${SENT} Write the amount as 1.00.`],
  ],
  [
    ['--pay', '1', '--max-fee', ' 00', ...PAYEE],
    ['usage', '--max-fee " 00" begins with a zero too many', `${SENT} Write the amount as 1.00.`],
  ],
])('the options %j are refused before anything is sent', (words, refusal) => {
  expect(refusalOf(words)).toEqual(refusal);
});

it.each<[words: string[], code: string]>([
  [['--pay', '0', ...PAYEE], 'invalid_amount'],
  [['--pay', 'x', ...PAYEE], 'invalid_amount'],
  [['--pay', '1', '--max-fee', '-1', ...PAYEE], 'invalid_amount'],
  [['--pay', '1', '--max-fee', '0.001', ...PAYEE], 'invalid_amount'],
  [['--initiate', '--to', 'DE89370400440532013001', '--name', 'Ada'], 'invalid_iban'],
  [['--initiate', '--to', IBAN, '--name', ' '], 'invalid_text'],
  [['--steps', 'x'], 'usage'],
  [['--skip', 'x'], 'usage'],
  [['--known', 'x'], 'usage'],
  [['--known', 'accounts=15/12/2026'], 'invalid_date'],
  [['--slow', 'x'], 'usage'],
  [['--slow', '25h'], 'usage'],
  [['--max', '25h'], 'usage'],
  [['--retry', '11'], 'usage'],
  [['--retry', '-1'], 'usage'],
  [['--within', 'x'], 'usage'],
])('the options %j are refused with %s', (words, code) => {
  expect(refusalOf(words)[0]).toBe(code);
});

it('what --fail-on does not know is refused, with the names of what it knows', () => {
  const { context } = openCommand(newConfigFolder(temporary), NOW);
  const options = { ...withOptions(new Command()).parse([], { from: 'user' }).opts(), failOn: ['slow', 'x'] };
  expect(() => readPlan(context, options)).toThrow('--fail-on "x" is not known');
  expect(refusalOf(['--fail-on', 'slow'])).toEqual([]);
});

it.each<[words: string[], environment: string, yes: boolean, refusal: string[]]>([
  [
    ['--initiate', ...PAYEE],
    'production',
    false,
    ['confirmation_needed', '--initiate in production needs --yes', SENT],
  ],
  [
    ['--pay', '1', ...PAYEE],
    'production',
    false,
    ['confirmation_needed', '--pay in production needs --yes', SENT],
  ],
  [['--pay', '1', ...PAYEE], 'production', true, []],
  [['--initiate', ...PAYEE], 'sandbox', false, []],
  [[], 'production', false, []],
])('the options %j in %s, with --yes %s', (words, PSD2_ENVIRONMENT, yes, refusal) => {
  expect(refusalOf(words, { env: { PSD2_ENVIRONMENT }, ...(yes && { globals: { yes } }) })).toEqual(refusal);
});

it('a person at the terminal may pay more', () => {
  expect(planOf(['--pay', '5', ...PAYEE], { operator: {} }).pay).toEqual({ amount: '5.00', maxFee: null });
});

it.each([
  ['accounts', '2026-11-26', true],
  ['accounts=2026-11-26', '2026-11-26', true],
  ['accounts=2026-11-25', '2026-11-26', false],
  ['accounts=2026-11-27', '2026-11-26', true],
  ['balance', '2026-11-26', false],
])('with --known %s, the step accounts may fail on %s: %s', (known, day, may) => {
  expect(isKnown(planOf(['--known', known]), 'accounts', new Date(`${day}T12:00:00.000Z`))).toBe(may);
});
