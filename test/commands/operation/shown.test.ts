import { expect, it } from 'vitest';
import { describeFlow } from '../../../src/commands/flow/fields.ts';
import { OPERATIONS } from '../../../src/commands/operation/operations.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import { applyOperationEvent } from '../../../src/domain/operation.ts';
import { Psd2Error } from '../../../src/errors.ts';
import type { GenericOperation } from '../../../src/store/ports/flows.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { BankHere, OWN_ACCOUNT } from '../bank-here.ts';
import { endOf, payerAt } from '../payer-here.ts';

// What psd2 says of an operation with a name of the bank's own, before and after it has a resource at the bank.

const temporary = temporaryFolder();
const NAMED = ['standingOrder', '--account', OWN_ACCOUNT];

function operationWith(
  changes: Partial<GenericOperation>,
  operation: string = 'standingOrder',
): GenericOperation {
  const order = { customerId: '1', from: parseProductId(OWN_ACCOUNT), operation, data: '{"a":1}' };
  const created = {
    type: 'created',
    flow: 'op-1',
    transactionId: 't',
    commits: 'on execute',
    order,
  } as const;
  const at = '2026-11-22T10:00:00.000Z';
  return { ...applyOperationEvent('operation', undefined, created, at), ...changes };
}

it('an operation that the bank does not have yet is described without a total, and has no next step', () => {
  const created = operationWith({});
  expect(OPERATIONS.describe(created)).toEqual([
    ['Name', 'standingOrder'],
    ['Account', OWN_ACCOUNT],
    ['Total', null],
    ['Data', '{"a":1}'],
  ]);
  expect(OPERATIONS.form.data(created)).toMatchObject({ nextStep: null, resourceId: null });
  expect(OPERATIONS.referenceOf(created)).toBeNull();
});

it('a question about it leaves out what is not known', () => {
  const created = operationWith({});
  expect(
    describeFlow(created, OPERATIONS.describe(created), (time) => time.slice(0, 10)),
  ).toMatchInlineSnapshot(`
    "The operation op-1 is created:
      Name               standingOrder
      Account            0000012345
      Data               {"a":1}
      Begun              2026-11-22
      Last change        2026-11-22"
  `);
});

it.each<[string, Partial<GenericOperation>, [isUnknown: boolean, isEnded: boolean]]>([
  ['executed', { state: 'executed' }, [false, true]],
  ['failed', { state: 'failed' }, [false, true]],
  ['failed, after a refusal alone', { state: 'failed', refusedUnconfirmed: true }, [true, true]],
  ['executing', { state: 'executing' }, [true, false]],
  ['unknown', { state: 'unknown' }, [true, false]],
  ['authorized', { state: 'authorized' }, [false, false]],
])(
  'of one that is %s, psd2 knows whether a person may decide it, and whether it has ended',
  (_, changes, is) => {
    const operation = operationWith(changes);
    expect([OPERATIONS.isUnknown(operation), OPERATIONS.isEnded(operation)]).toEqual(is);
  },
);

it('an interruption of execute says which operation may have been executed', async () => {
  const bank = new BankHere();
  bank.meets('execute', new Psd2Error('interrupted', 'Interrupted'));
  const ran = await (await payerAt(bank, temporary)).run(['operation', 'run', ...NAMED]);
  expect(endOf(ran).slice(0, 3)).toEqual([
    'exit 130, interrupted of op-1: Interrupted. The standingOrder may have been executed: do not make it again',
    ...['Continue with:', '$ operation resume op-1'],
  ]);
});

it('a person chooses the operation to continue by its name and its account', async () => {
  const bank = new BankHere();
  bank.customersAgree = false;
  const payer = await payerAt(bank, temporary);
  for (const _ of ['first', 'second'])
    await payer.run(['operation', 'run', ...NAMED], { globals: { scaTimeout: '1' } });
  bank.customersAgree = true;
  payer.leaveBehind();
  const { asked, data } = await payer.run(['operation', 'resume'], { answers: ['op-'] });
  expect([data.state, asked]).toMatchInlineSnapshot(`
    ["executed",
     ["Which operation do you want to continue?",
      "- op-2  standingOrder of 0000012345, authorizing, begun NOW (op-2  standingOrder of 0000012345, authorizing, begun NOW)",
      "- op-1  standingOrder of 0000012345, authorizing, begun NOW (op-1  standingOrder of 0000012345, authorizing, begun NOW)"]]
  `);
});
