import { expect, it } from 'vitest';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { OWN_ACCOUNT } from '../bank-here.ts';
import { ANNA, endOf, payerWith } from '../payer-here.ts';

// Which flow psd2 continues if the operator names none.

const temporary = temporaryFolder();
const RUN = ['operation', 'run', 'standingOrder', '--account', OWN_ACCOUNT];
const RESUME = ['operation', 'resume'];

/** An operator with so many operations, and with a transfer, that wait for their customer. */
async function withUnfinished(operations: number) {
  const { bank, payer } = await payerWith(temporary);
  bank.customersAgree = false;
  const to = ['--to', 'IT60X0542811101000000123456', '--name', 'Mario Rossi', '--amount', '12.50'];
  await payer.run(['transfer', 'create', '--from', OWN_ACCOUNT, ...to], { globals: { scaTimeout: '1' } });
  for (let made = 0; made < operations; made += 1) await payer.run(RUN, { globals: { scaTimeout: '1' } });
  bank.customersAgree = true;
  payer.leaveBehind();
  return payer;
}

it.each([
  ['of all customers', {}],
  ['of the customer that is named', { globals: { customer: ANNA } }],
])('psd2 continues the only operation %s, and leaves an unfinished transfer alone', async (_, how) => {
  const payer = await withUnfinished(1);
  const ran = await payer.run(RESUME, how);
  expect([ran.data.state, ran.data.flow, endOf(ran)]).toEqual(['executed', 'op-1', ['done']]);
  expect((await payer.run(['transfer', 'list'])).data[0]?.state).toBe('authorizing');
});

it('without a terminal, psd2 names five of the unfinished operations, the newest first', async () => {
  const payer = await withUnfinished(6);
  expect(endOf(await payer.run(RESUME))).toEqual([
    'exit 2, usage: There are 6 unfinished operations. Name the one to continue',
    ...[1, 2, 3, 4, 5].map((number) => `$ operation resume op-${7 - number}`),
  ]);
});

it('at a terminal, the choice is not preceded by a note of what is interrupted', async () => {
  const payer = await withUnfinished(2);
  const terminal = { answers: ['op-'], format: 'table', stdout: 200 } as const;
  const { said, failure } = await payer.run(RESUME, terminal);
  expect(failure).toBeNull();
  expect(said).not.toContain('Interrupted');
  const shown = await payer.run(['operation', 'show', 'op-1'], { format: 'table', stdout: 200 });
  expect(shown.said).toContain('Interrupted: ');
});
