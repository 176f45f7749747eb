import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Psd2Error } from '../../../src/errors.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { BankHere, OWN_ACCOUNT } from '../bank-here.ts';
import { endOf, payerAt } from '../payer-here.ts';

// Operations with a name of the bank's own, whole and step by step, at a bank in the memory of the test.

const temporary = temporaryFolder();
const NAMED = ['standingOrder', '--account', OWN_ACCOUNT];
const operation = (verb: string, ...more: string[]) => ['operation', verb, ...NAMED, ...more];
const at = (verb: string) => operation(verb, '--resource', 'op-1');
const refused = () => new Psd2Error('bank_refused', 'Not now', { refusal: 'other', isBanks: true });

it('an operation is verified, confirmed, authorised and executed, with the data as it was given', async () => {
  const bank = new BankHere();
  const payer = await payerAt(bank, temporary);
  const ran = await payer.run(operation('run', '--data', '{"a": 1.10}'), { answers: [true] });
  expect([ran.data, ran.said, ran.asked, endOf(ran), bank.calls]).toMatchInlineSnapshot(`
    [{ authorizationStatus: "AUTHORIZED", bankReasons: [], commissions: null, createdAt: "NOW",
       cro: "cro-pay-1", customerId: "1048262", executionStatus: null, executionStatusDescription: null,
       flow: "op-1", kind: "operation", nextStep: null, operation: "standingOrder",
       product: "0000012345", resolution: null, resourceId: "pay-1", state: "executed",
       totalAmount: null, transactionId: "an-id", updatedAt: "NOW" },
     "Operation op-1
    Open this address in the customer's browser:
      https://customers.bank.example/pay-1
    ",
     ["Ask the customer to authorise the standingOrder?"], ["done"],
     ["verify standingOrder", "sca pay-1", "status pay-1", "execute pay-1"]]
  `);
  expect(bank.last.asked).toMatchObject({
    operation: 'standingOrder',
    from: OWN_ACCOUNT,
    data: '{"a": 1.10}',
  });
  const shown = await payer.run(['operation', 'show', 'op-1'], { format: 'table' });
  expect(shown.printed).toMatchInlineSnapshot(`
    "Operation	op-1
    Name	standingOrder
    State	executed
    Customer	1048262
    Account	0000012345
    Next step	
    Total	
    Commission	
    Authorization	AUTHORIZED
    CRO	cro-pay-1
    Resolved	
    Resource	pay-1
    Transaction	an-id
    "
  `);
  const no = await payer.run(operation('run'), { answers: [false] });
  expect([no.data.state, endOf(no)]).toMatchInlineSnapshot(`
    ["cancelled",
     ["exit 2, cancelled of op-2: The standingOrder was cancelled before the customer was asked",
      "No money moved. You can make a new one.", "transactionId: "an-id""]]
  `);
});

it('the receipt is saved after the execution, and a missing one is no reason to do it again', async () => {
  const bank = new BankHere();
  const payer = await payerAt(bank, temporary);
  const file = join(temporary, 'operation.pdf');
  expect((await payer.run(operation('run', '--receipt', file))).failure).toBeNull();
  expect(readFileSync(file, 'utf8')).toBe('receipt of pay-1');
  bank.meets('receipt', refused().with({ hint: 'Wait.' }), refused());
  const again = operation('run', '--receipt', file);
  expect([endOf(await payer.run(again)), endOf(await payer.run(again))]).toMatchInlineSnapshot(`
    [["exit 7, bank_refused: Not now",
      "The standingOrder is executed. Do not make it again: only its receipt is missing. Wait.",
      "refusal: "other"", "isBanks: true"],
     ["exit 7, bank_refused: Not now",
      "The standingOrder is executed. Do not make it again: only its receipt is missing.",
      "refusal: "other"", "isBanks: true"]]
  `);
});

it('what would not go well is refused before anything is sent', async () => {
  const bank = new BankHere();
  const payer = await payerAt(bank, temporary);
  const cc = { globals: { grant: 'client_credentials' as const } };
  const ends = [
    await payer.run(operation('run'), { yes: false }),
    await payer.run(operation('run'), cc),
    await payer.run(operation('verify'), cc),
    await payer.run(['operation', 'run', 'moneyTransfer', '--account', OWN_ACCOUNT]),
    await payer.run(['operation', 'run', 'a-b', '--account', OWN_ACCOUNT]),
    await payer.run(['operation', 'run', 'z'.repeat(65), '--account', OWN_ACCOUNT]),
    await payer.run(at('sca')),
    await payer.run(['operation', 'resume']),
  ].map(endOf);
  expect(ends).toMatchInlineSnapshot(`
    [["exit 2, confirmation_needed: An operation needs a confirmation, and psd2 cannot ask without a terminal",
      "Add --yes to confirm in advance. psd2 has sent nothing."],
     ["exit 2, usage: This needs the customer, so it needs the grant authorization_code",
      "Leave out --grant client_credentials."],
     ["exit 2, usage: This needs the customer, so it needs the grant authorization_code",
      "Leave out --grant client_credentials."],
     ["exit 2, usage: moneyTransfer is a bank transfer, and psd2 operation does not make transfers",
      "Use psd2 transfer, which checks the payee, the amount and the reference:", "$ transfer --help"],
     ["exit 2, usage: The operation name "a-b" is not a word of letters and digits",
      "For example standingOrder."],
     ["exit 2, usage: The operation name "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz" is not a word of letters and digits",
      "For example standingOrder."],
     ["exit 2, flow_not_found: No flow of this profile matches "op-1"",
      "Give the id that psd2 printed, or the resource id."],
     ["exit 2, usage: There is no unfinished operation", "See all of them with:", "$ operation list"]]
  `);
  expect(bank.calls).toEqual([]);
});

it('step by step, each step stops where the next one begins', async () => {
  const bank = new BankHere();
  bank.verified = { nextStep: 'verify2' };
  bank.customersAgree = false;
  const payer = await payerAt(bank, temporary);
  const steps: unknown[] = [];
  const step = async (words: string[], how?: Parameters<typeof payer.run>[1]) => {
    bank.calls.length = 0;
    const ran = await payer.run(words, how);
    steps.push([
      words.slice(1, 3).join(' '),
      ran.data.state,
      ran.data.nextStep,
      ...bank.calls,
      ...endOf(ran),
    ]);
  };
  const soon = { globals: { scaTimeout: '1' } };
  await step(operation('verify', '--data', '{"a":1}'));
  await step(at('sca'));
  await step(at('execute'));
  await step(operation('verify', '--resource', 'op-1', '--data', '{"b":2}'));
  await step(operation('verify', '--resource', 'op-1'));
  await step(at('execute'));
  await step(at('sca'), { globals: { grant: 'client_credentials' } });
  await step(at('sca'), soon);
  await step(at('execute'), soon);
  await step(['operation', 'status', ...NAMED, '--resource', 'op-1']);
  bank.last.decision = 'AUTHORIZED';
  await step(at('sca'), soon);
  await step(at('execute'), soon);
  await step(at('execute'), soon);
  await step(['operation', 'sca', 'otherOrder', '--account', OWN_ACCOUNT, '--resource', 'op-1']);
  expect(steps).toMatchInlineSnapshot(`
    [["verify standingOrder", "verified", "verify2", "verify standingOrder", "done"],
     ["sca standingOrder", undefined, undefined,
      "exit 2, usage: op-1 is verified, so its next step is not sca",
      "Its next step is verify, for verify2."],
     ["execute standingOrder", undefined, undefined,
      "exit 2, usage: op-1 is verified, so its next step is not execute",
      "Its next step is verify, for verify2."],
     ["verify standingOrder", "verified", "execute", "verify further pay-1 verify2 {"b":2}", "done"],
     ["verify standingOrder", undefined, undefined,
      "exit 2, usage: op-1 is verified, so its next step is not verify", "Its next step is sca."],
     ["execute standingOrder", undefined, undefined,
      "exit 2, usage: op-1 is verified, so its next step is not execute", "Its next step is sca."],
     ["sca standingOrder", undefined, undefined,
      "exit 2, usage: This needs the customer, so it needs the grant authorization_code",
      "Leave out --grant client_credentials."],
     ["sca standingOrder", "authorizing", null, "sca pay-1", "status pay-1", "status pay-1",
      "exit 6, authorisation_timeout of op-1: The customer did not authorise the standingOrder within 1 s",
      "Continue with:", "$ operation resume op-1", "transactionId: "an-id""],
     ["execute standingOrder", "verified", "execute", "status pay-1",
      "exit 2, usage: op-1 is verified, so its next step is not execute", "Its next step is sca."],
     ["status standingOrder", undefined, undefined, "status pay-1", "done"],
     ["sca standingOrder", "authorized", null, "sca pay-1", "status pay-1", "done"],
     ["execute standingOrder", "executed", null, "status pay-1", "execute pay-1", "done"],
     ["execute standingOrder", undefined, undefined,
      "exit 2, usage: op-1 is executed, so its next step is not execute"],
     ["sca otherOrder", undefined, undefined,
      "exit 2, usage: op-1 is a standingOrder of the account 0000012345",
      "Use that name and account, or another resource."]]
  `);
});

it('the status is of any resource, also of one that was made elsewhere', async () => {
  const bank = new BankHere();
  const payer = await payerAt(bank, temporary);
  await payer.run(operation('run'));
  const status = (resource: string) => payer.run(['operation', 'status', ...NAMED, '--resource', resource]);
  expect([(await status('op-1')).data, (await status('pay-1')).data]).toMatchInlineSnapshot(`
    [{ authorizationStatus: "executed", executionStatus: "executed", operation: "standingOrder",
       resourceId: "pay-1" },
     { authorizationStatus: "executed", executionStatus: "executed", operation: "standingOrder",
       resourceId: "pay-1" }]
  `);
  expect(endOf(await status('pay-7'))).toMatchInlineSnapshot(
    `["exit 7, bank_refused: Unknown: pay-7", "refusal: "other"", "isBanks: true"]`,
  );
  const other = { globals: { customer: '1000002' }, given: ['customer'] };
  const words = ['operation', 'status', ...NAMED, '--resource', 'op-1'];
  expect((await payer.run(words, other)).failure?.code).toBe('usage');
  bank.meets('verify', new Psd2Error('too_many_calls', 'Too many', { refusal: 'unread', isBanks: true }));
  await payer.run(operation('run'));
  expect(endOf(await status('op-2'))).toMatchInlineSnapshot(`
    ["exit 2, usage of op-2: op-2 is created and has no resource at the bank", "See it with:",
     "$ operation show op-2"]
  `);
});

it('an unfinished operation goes on where it stopped, with further data, and is never executed twice', async () => {
  const bank = new BankHere();
  bank.verified = { nextStep: 'verify2' };
  const payer = await payerAt(bank, temporary);
  await payer.run(operation('run'));
  const resume = ['operation', 'resume', 'op-1'];
  expect(endOf(await payer.run(resume, { yes: false }))).toMatchInlineSnapshot(`
    ["exit 2, confirmation_needed: An operation needs a confirmation, and psd2 cannot ask without a terminal",
     "Add --yes to confirm in advance. psd2 has sent nothing."]
  `);
  const cc = { globals: { grant: 'client_credentials' as const } };
  expect((await payer.run(resume, cc)).failure?.code).toBe('usage');
  bank.last.becomes = null;
  bank.meets('execute', 'lost');
  const lost = await payer.run([...resume, '--verify-data', '{}']);
  expect(endOf(lost)).toMatchInlineSnapshot(`
    ["exit 9, outcome_unknown of op-1: The bank does not say yet whether the standingOrder was executed",
     "First ask the bank again, which never pays twice. If the outcome stays unknown, ask the bank's support or look at the account statement, then record what they say:",
     "$ operation resume op-1", "$ operation resolve op-1 --executed",
     "$ operation resolve op-1 --not-executed", "transactionId: "an-id""]
  `);
  expect((await payer.run([...resume], { yes: false })).failure?.code).toBe('outcome_unknown');
  bank.last.became = 'executed';
  expect((await payer.run(resume)).data.state).toBe('executed');
  expect(bank.calls.filter((call) => call.startsWith('execute'))).toHaveLength(1);
  const list = await payer.run(['operation', 'list'], { format: 'table' });
  expect(list.printed.split('\t').slice(0, 4)).toEqual(['op-1', 'executed', 'standingOrder', OWN_ACCOUNT]);
});

it('psd2 shows what the bank says of an operation', async () => {
  const bank = new BankHere();
  const payer = await payerAt(bank, temporary);
  const { data } = await payer.run(['operation', 'prepare', ...NAMED]);
  expect(data).toEqual({ data: { operation: 'standingOrder', from: OWN_ACCOUNT } });
});
