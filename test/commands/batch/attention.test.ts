import { expect, it } from 'vitest';
import { Psd2Error } from '../../../src/errors.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { BankHere } from '../bank-here.ts';
import { payerAt } from '../payer-here.ts';
import { RUN, withPayees } from './with-batch.ts';

// Which batches psd2 batch list --attention shows, and what an empty list says.

const temporary = temporaryFolder();
type Here = Awaited<ReturnType<typeof withPayees>>;
const refused = () => new Psd2Error('bank_refused', 'Not this one', { refusal: 'content', isBanks: true });
const failing = () => new Psd2Error('bank_failing', 'The bank is failing');

const cases: [string, boolean, (here: Here) => unknown][] = [
  ['that waits for its run', false, () => {}],
  ['that is paid', false, ({ payer }) => payer.run(RUN)],
  [
    'with a payment that the bank has refused for sure',
    false,
    ({ bank, payer }) => {
      bank.meets('verify', refused());
      return payer.run(RUN);
    },
  ],
  [
    'with a payment that the bank has refused by one answer alone',
    true,
    ({ bank, payer }) => {
      bank.meets('execute', refused());
      bank.next = { becomes: null };
      return payer.run(RUN);
    },
  ],
  [
    'with a payment that is unknown',
    true,
    ({ bank, payer }) => {
      bank.meets('execute', 'lost');
      bank.next = { becomes: null };
      return payer.run(RUN);
    },
  ],
  [
    'with a payment that is unfinished',
    true,
    ({ bank, payer }) => {
      bank.meets('verify', failing());
      return payer.run(RUN);
    },
  ],
  [
    'whose customers have not decided',
    false,
    ({ bank, payer }) => {
      bank.customersAgree = false;
      return payer.run(RUN, { globals: { scaTimeout: '1' } });
    },
  ],
  [
    'that somebody has rejected',
    false,
    ({ payer }) => payer.run(['batch', 'reject', 'batch-1', '--note', 'No']),
  ],
  ['that was cancelled', false, ({ payer }) => payer.run(['batch', 'cancel', 'batch-1'])],
];

it.each(cases)('a batch %s needs a person: %s', async (_, needs, prepare) => {
  const here = await withPayees(temporary, new BankHere(), ['Ada', 'Bea']);
  await prepare(here);
  const { printed } = await here.payer.run(['batch', 'list', '--attention']);
  expect(JSON.parse(printed)).toHaveLength(needs ? 1 : 0);
});

it('a batch needs a person until enough people have approved it', async () => {
  const { payer } = await withPayees(temporary, new BankHere(), ['Ada']);
  const env = { PSD2_APPROVALS: '2' };
  const found = async () =>
    JSON.parse((await payer.run(['batch', 'list', '--attention'], { env })).printed).length;
  const counts = [await found()];
  for (const by of ['bea', 'cleo']) {
    await payer.run(['batch', 'approve', 'batch-1', '--by', by], { env });
    counts.push(await found());
  }
  expect(counts).toEqual([1, 1, 0]);
});

it('an empty list says whether there is no batch, or none that matches', async () => {
  const payer = await payerAt(new BankHere(), temporary);
  const said = async (more: string[], globals = {}) =>
    (await payer.run(['batch', 'list', ...more], { format: 'table', globals })).said;
  expect(await said([])).toBe('This profile has no batches.\n');
  expect(await said(['--attention'])).toBe('No batch matches.\n');
  expect(await said([], { customer: '2073915' })).toBe('No batch matches.\n');
});
