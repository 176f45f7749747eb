import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeFlow } from '../../../src/commands/flow/fields.ts';
import { OPERATIONS } from '../../../src/commands/operation/operations.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';
import { Psd2Error } from '../../../src/errors.ts';
import type { GenericOperation } from '../../../src/store/ports/flows.ts';
import { begunOperation } from '../../domain/orders.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { BankHere, OWN_ACCOUNT } from '../bank-here.ts';
import { openCommand, runIn, useFolder } from '../command.ts';
import { endOf, payerAt, payerWith } from '../payer-here.ts';

// Operations with a name of the bank's own, whole and step by step, at a bank in the memory of the test.

const temporary = temporaryFolder();
const NAMED = ['standingOrder', '--account', OWN_ACCOUNT];
const operation = (verb: string, ...more: string[]) => ['operation', verb, ...NAMED, ...more];
const at = (verb: string, ...more: string[]) => operation(verb, '--resource', 'op-1', ...more);
const CLIENT_CREDENTIALS = { globals: { grant: 'client_credentials' } } as const;
const refused = () => new Psd2Error('bank_refused', 'Not now', { refusal: 'other', isBanks: true });

it('an operation is verified, confirmed, authorised and executed, with the data as it was given', async () => {
  const { bank, payer } = await payerWith(temporary);
  const ran = await payer.run(operation('run', '--data', '{"a": 1.10}'), { answers: [true] });
  expect([ran.data, ran.said, ran.asked, endOf(ran), bank.calls]).toMatchInlineSnapshot(`
    [{ authorisations: [], authorisedBy: [], authorizationStatus: "AUTHORIZED", bankReasons: [],
       cancellation: null, commissions: null, createdAt: "NOW", cro: "cro-pay-1", customerId: "1048262",
       executionStatus: null, executionStatusDescription: null, flow: "op-1", kind: "operation",
       messages: [], nextStep: null, operation: "standingOrder", product: "0000012345", refusedBy: [],
       resolution: null, resourceId: "pay-1", state: "executed", totalAmount: null,
       transactionId: "an-id", updatedAt: "NOW", waitsFor: null },
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
    Authorisation	AUTHORIZED
    Bank says	
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
  const { bank, payer } = await payerWith(temporary);
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
  const { bank, payer } = await payerWith(temporary);
  const ends = [
    await payer.run(operation('run'), { yes: false }),
    await payer.run(operation('run'), CLIENT_CREDENTIALS),
    await payer.run(operation('verify'), CLIENT_CREDENTIALS),
    await payer.run(['operation', 'run', 'moneyTransfer', '--account', OWN_ACCOUNT]),
    await payer.run(['operation', 'run', 'a-b', '--account', OWN_ACCOUNT]),
    await payer.run(['operation', 'run', 'z'.repeat(65), '--account', OWN_ACCOUNT]),
    await payer.run(at('sca')),
    await payer.run(['operation', 'resume']),
    await payer.run(operation('run', '--receipt', '-'), { stdout: 80 }),
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
     ["exit 2, usage: There is no unfinished operation", "See all of them with:", "$ operation list"],
     ["exit 2, usage: The document is binary, and psd2 does not write it to a terminal",
      "Add --file <path>, or pipe it to another program."]]
  `);
  expect(bank.calls).toEqual([]);
});

it('step by step, each step stops where the next one begins', async () => {
  const { bank, payer } = await payerWith(temporary);
  bank.verified = { nextStep: 'verify2' };
  bank.customersAgree = false;
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
  await step(at('verify', '--data', '{"b":2}'));
  await step(at('verify'));
  await step(at('execute'));
  await step(at('sca'), CLIENT_CREDENTIALS);
  await step(at('sca'), soon);
  await step(at('execute'), soon);
  await step(at('status'));
  bank.last.decision = 'AUTHORIZED';
  await step(at('sca'), soon);
  await step(at('execute'), soon);
  await step(at('execute'), soon);
  await step(['operation', 'sca', 'otherOrder', '--account', OWN_ACCOUNT, '--resource', 'op-1']);
  await step(['operation', 'sca', 'standingOrder', '--account', '0000067890', '--resource', 'op-1']);
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
      "Use that name and account, or another resource."],
     ["sca standingOrder", undefined, undefined,
      "exit 2, usage: op-1 is a standingOrder of the account 0000012345",
      "Use that name and account, or another resource."]]
  `);
});

it('the status is of any resource, also of one that was made elsewhere', async () => {
  const { bank, payer } = await payerWith(temporary);
  await payer.run(operation('run'));
  const status = (resource: string) => payer.run(operation('status', '--resource', resource));
  expect([(await status('op-1')).data, (await status('pay-1')).data]).toMatchInlineSnapshot(`
    [{ authorizationStatus: "executed", executionStatus: "executed", operation: "standingOrder",
       resourceId: "pay-1" },
     { authorizationStatus: "executed", executionStatus: "executed", operation: "standingOrder",
       resourceId: "pay-1" }]
  `);
  const { printed } = await payer.run(at('status'), { format: 'table' });
  expect(printed).toBe('Resource\tpay-1\nAuthorisation\texecuted\nExecution\texecuted\n');
  expect(endOf(await status('pay-7'))).toMatchInlineSnapshot(
    `["exit 7, bank_refused: Unknown: pay-7", "refusal: "other"", "isBanks: true"]`,
  );
  const other = { globals: { customer: '1000002' }, given: ['customer'] };
  const words = at('status');
  expect((await payer.run(words, other)).failure?.code).toBe('usage');
  bank.meets('verify', new Psd2Error('too_many_calls', 'Too many', { refusal: 'unread', isBanks: true }));
  await payer.run(operation('run'));
  expect(endOf(await status('op-2'))).toMatchInlineSnapshot(`
    ["exit 2, usage of op-2: op-2 is created and has no resource at the bank", "See it with:",
     "$ operation show op-2"]
  `);
});

it('an unfinished operation goes on where it stopped, with further data, and is never executed twice', async () => {
  const { bank, payer } = await payerWith(temporary);
  bank.verified = { nextStep: 'verify2' };
  await payer.run(operation('run'));
  const resume = ['operation', 'resume', 'op-1'];
  expect(endOf(await payer.run(resume, { yes: false }))).toMatchInlineSnapshot(`
    ["exit 2, confirmation_needed: An operation needs a confirmation, and psd2 cannot ask without a terminal",
     "Add --yes to confirm in advance. psd2 has sent nothing."]
  `);
  expect((await payer.run(resume, CLIENT_CREDENTIALS)).failure?.code).toBe('usage');
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
  const { payer } = await payerWith(temporary);
  const { data } = await payer.run(['operation', 'prepare', ...NAMED]);
  expect(data).toEqual({ data: { operation: 'standingOrder', from: OWN_ACCOUNT } });
});

// What the verbs of every flow say of operations with a name of the bank's own.

const verify = (data = '{"a":1}') => operation('verify', '--data', data);

it('people and programs see the next step of an operation, and what it costs', async () => {
  const { bank, payer } = await payerWith(temporary);
  bank.verified = {
    totalAmount: { amount: parsePaymentAmount('13'), currency: 'EUR' },
    commissions: { amount: parsePaymentAmount('0.5'), currency: 'EUR' },
    nextStep: 'verify2',
  };
  await payer.run(verify());
  const list = (format: 'table' | 'csv') => payer.run(['operation', 'list'], { format });
  expect((await list('table')).printed).toBe('op-1\tverified\tstandingOrder\t0000012345\tNOW\t1048262\n');
  expect((await list('csv')).printed).toMatchInlineSnapshot(`
    "flow,kind,state,resourceId,transactionId,customerId,operation,product,nextStep,totalAmount.amount,totalAmount.currency,commissions.amount,commissions.currency,authorizationStatus,executionStatus,executionStatusDescription,bankReasons,cro,authorisations,authorisedBy,refusedBy,waitsFor,cancellation.authorisedBy,cancellation.refusedBy,cancellation.waitsFor,messages,resolution.outcome,resolution.by,resolution.at,resolution.note,createdAt,updatedAt
    op-1,operation,verified,pay-1,an-id,1048262,standingOrder,0000012345,verify2,13.00,EUR,0.50,EUR,,,,[],,[],[],[],,,,,[],,,,,NOW,NOW
    "
  `);
  const shown = await payer.run(['operation', 'show', 'op-1'], { format: 'table' });
  expect(shown.printed).toContain('\nNext step\tverify2\nTotal\t13.00 EUR\nCommission\t0.50 EUR\n');
  // What becomes of it is not for a person to decide.
  const resolved = await payer.run(['operation', 'resolve', 'op-1', '--not-executed']);
  expect(endOf(resolved).slice(0, 3)).toEqual([
    'exit 2, usage of op-1: The operation op-1 is verified, so its outcome is not unknown',
    ...['Continue with:', '$ operation resume op-1'],
  ]);
});

it('an operation that is resumed is executed with its receipt, and records no data that nobody gave', async () => {
  const { payer } = await payerWith(temporary);
  await payer.run(verify());
  const file = join(temporary, 'later.pdf');
  const resumed = await payer.run(['operation', 'resume', 'op-1', '--receipt', file]);
  expect([resumed.data.state, endOf(resumed)]).toEqual(['executed', ['done']]);
  expect(readFileSync(file, 'utf8')).toBe('receipt of pay-1');
  expect(payer.events('op-1')).not.toMatch(/further-data/);
});

it.each([
  ['as it is', `{"a":"${'x'.repeat(992)}"}`, ''],
  ['shortened', `{"a":"${'x'.repeat(993)}"}`, ' ...'],
])('a person who ends an operation sees what it is, with its data %s', async (_, data, end) => {
  const { bank, payer } = await payerWith(temporary);
  bank.verified = { totalAmount: { amount: parsePaymentAmount('1.50'), currency: 'EUR' } };
  await payer.run(verify(data));
  const cancelled = await payer.run(['operation', 'cancel', 'op-1'], { answers: [true] });
  expect(cancelled.said.replaceAll(/x+/g, (found) => `x*${found.length}`)).toContain(`{"a":"x*99`);
  expect(cancelled.said).toContain(`${data.slice(0, 1_000)}${end}\n`);
  expect(cancelled.said.replace(data.slice(0, 1_000) + end, 'DATA')).toMatchInlineSnapshot(`
    "The operation op-1 is verified:
      Name               standingOrder
      Account            0000012345
      Total              1.50 EUR
      Data               DATA
      Begun              NOW
      Last change        NOW
    "
  `);
  expect([cancelled.data.state, cancelled.asked]).toEqual(['cancelled', ['Cancel the operation for good?']]);
});

// What psd2 says of an operation with a name of the bank's own, before and after it has a resource at the bank.

const LATE = '9999-12-31T00:00:00.000Z';
const operationWith = (changes: Partial<GenericOperation>) => begunOperation(changes, { data: '{"a":1}' });

it('an operation that the bank does not have yet has no total and no next step, and a question leaves that out', () => {
  const created = operationWith({});
  const described = OPERATIONS.describe(created);
  expect(described).toEqual([
    ...[
      ['Name', 'standingOrder'],
      ['Account', OWN_ACCOUNT],
      ['Total', null],
      ['Data', '{"a":1}'],
    ],
  ]);
  expect(OPERATIONS.form.data(created)).toMatchObject({ nextStep: null, resourceId: null });
  expect(OPERATIONS.referenceOf(created)).toBeNull();
  expect(describeFlow(created, described, (time) => time.slice(0, 10))).toMatchInlineSnapshot(`
    "The operation op-1 is created:
      Name               standingOrder
      Account            0000012345
      Data               {"a":1}
      Begun              2026-11-22
      Last change        2026-11-22"
  `);
});

it.each<[string, string | null, string | null, product: string, short: string]>([
  ['psd2 names', OWN_ACCOUNT, null, OWN_ACCOUNT, `bulk-payments of ${OWN_ACCOUNT}`],
  ['psd2 names, also as the bank does', OWN_ACCOUNT, 'DE03', OWN_ACCOUNT, `bulk-payments of ${OWN_ACCOUNT}`],
  ['the customer has chosen at the bank', null, 'DE03', 'DE03', 'bulk-payments of DE03'],
  ['nobody has named', null, null, '', 'bulk-payments'],
])('an operation has the account that %s', (_, from, debtor, product, short) => {
  const account = from === null ? null : parseProductId(from);
  const operation = begunOperation({ debtor }, { operation: 'bulk-payments', from: account });
  expect(OPERATIONS.form.data(operation)).toMatchObject({ product });
  expect([OPERATIONS.inShort(operation), OPERATIONS.payment?.(operation)]).toEqual([short, 'bulk-payments']);
});

it.each<[string, Partial<GenericOperation>, [isUnknown: boolean, isEnded: boolean]]>([
  ['executed', { state: 'executed' }, [false, true]],
  ['failed', { state: 'failed' }, [false, true]],
  ['failed, after a refusal alone', { state: 'failed', refusedUnconfirmed: true }, [true, true]],
  ['executing', { state: 'executing' }, [true, false]],
  ['unknown', { state: 'unknown' }, [true, false]],
  ['authorized', { state: 'authorized' }, [false, false]],
  ['cancelled, and its link may work', { state: 'cancelled', linkUntil: LATE }, [true, true]],
  ['cancelled', { state: 'cancelled' }, [false, true]],
])('of one that is %s, psd2 knows whether a person may decide it, and whether it ended', (_, changes, is) => {
  const operation = operationWith(changes);
  expect([OPERATIONS.isUnknown(operation), OPERATIONS.isEnded(operation)]).toEqual(is);
});

it('an interruption of execute says which operation may have been executed', async () => {
  const bank = new BankHere();
  bank.meets('execute', new Psd2Error('interrupted', 'Interrupted'));
  const ran = await (await payerAt(bank, temporary)).run(operation('run'));
  expect(endOf(ran).slice(0, 3)).toEqual([
    'exit 130, interrupted of op-1: Interrupted. The standingOrder may have been executed: do not make it again',
    ...['Continue with:', '$ operation resume op-1'],
  ]);
});

it('a person chooses the operation to continue by its name and its account', async () => {
  const { bank, payer } = await payerWith(temporary);
  bank.customersAgree = false;
  for (const _ of ['first', 'second']) await payer.run(operation('run'), { globals: { scaTimeout: '1' } });
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

// Where each command about an operation stops, what it needs to be confirmed, and what it sends once only.

it('each further verification stops before the next one, and the last one before the confirmation', async () => {
  const { bank, payer } = await payerWith(temporary);
  bank.verified = { nextStep: 'verify2' };
  bank.furtherSteps = ['verify3'];
  const runs = [
    await payer.run(operation('verify')),
    await payer.run(at('verify', '--data', '{"b":2}')),
    await payer.run(at('verify', '--data', '{"c":3}')),
  ];
  expect(runs.map((ran) => [ran.data.state, ran.data.nextStep, ...endOf(ran)])).toEqual([
    ['verified', 'verify2', 'done'],
    ['verified', 'verify3', 'done'],
    ['verified', 'execute', 'done'],
  ]);
  expect(bank.calls).toEqual([
    'verify standingOrder',
    'verify further pay-1 verify2 {"b":2}',
    'verify further pay-1 verify3 {"c":3}',
  ]);
});

it('data that psd2 did not send is replaced by that of the next try', async () => {
  const { bank, payer } = await payerWith(temporary);
  bank.verified = { nextStep: 'verify2' };
  await payer.run(operation('verify'));
  bank.meets('prepare', new Psd2Error('interrupted', 'Interrupted'));
  expect((await payer.run(at('verify', '--data', '{"b":1}'))).failure?.code).toBe('interrupted');
  const again = await payer.run(at('verify', '--data', '{"b":2}'));
  expect([again.data.nextStep, bank.calls.slice(1)]).toEqual([
    'execute',
    ['verify further pay-1 verify2 {"b":2}'],
  ]);
});

it('a single step asks nobody, and is confirmed once', async () => {
  const { bank, payer } = await payerWith(temporary);
  bank.customersAgree = false;
  const how = { yes: false, globals: { scaTimeout: '1' } };
  await payer.run(operation('verify'), how);
  expect((await payer.run(at('sca'), how)).failure?.code).toBe('authorisation_timeout');
  bank.last.decision = 'AUTHORIZED';
  expect((await payer.run(at('sca'), how)).data.state).toBe('authorized');
  expect((await payer.run(at('execute'), how)).data.state).toBe('executed');
  expect(payer.events('op-1').match(/accepted/g)).toHaveLength(1);
});

it.each([
  ['was confirmed, and waits for its customer', true],
  ['nobody has confirmed', false],
])('resume of an operation that %s needs the customer', async (_, isConfirmed) => {
  const { bank, payer } = await payerWith(temporary);
  bank.customersAgree = false;
  if (isConfirmed) await payer.run(operation('run'), { globals: { scaTimeout: '1' } });
  else await payer.run(operation('verify'));
  bank.calls.length = 0;
  const ran = await payer.run(['operation', 'resume', 'op-1'], CLIENT_CREDENTIALS);
  expect([endOf(ran)[0], bank.calls]).toEqual([
    'exit 2, usage: This needs the customer, so it needs the grant authorization_code',
    [],
  ]);
});

it('what became of execute can be asked without the customer, with execute again and with resume', async () => {
  const { bank, payer } = await payerWith(temporary);
  bank.next = { becomes: null };
  bank.meets('execute', 'lost');
  await payer.run(operation('run'));
  bank.calls.length = 0;
  const asked = [await payer.run(at('execute'), CLIENT_CREDENTIALS)];
  bank.last.became = 'executed';
  asked.push(await payer.run(['operation', 'resume', 'op-1'], CLIENT_CREDENTIALS));
  expect(asked.map(({ data, failure }) => [data.state, failure?.code])).toEqual([
    ['unknown', 'outcome_unknown'],
    ['executed', undefined],
  ]);
  expect(bank.calls).toEqual(['status pay-1', 'status pay-1']);
});

it.each([
  ['with --yes repeats it', { yes: true }, '$ operation resume op-1 --yes'],
  ['at a terminal has nothing to repeat', { answers: [] }, '$ operation resume op-1'],
])('the way on from an operation that was begun %s', async (_, how, command) => {
  const { bank, payer } = await payerWith(temporary);
  bank.meets('verify', 'lost');
  expect(endOf(await payer.run(operation('run'), how))).toEqual([
    'exit 11, bank_unreachable of op-1: The connection was lost',
    ...['Continue with:', command, 'transactionId: "an-id"'],
  ]);
});

it('a fault while the receipt is read is not taken for an answer of the bank', async () => {
  const { bank, payer } = await payerWith(temporary);
  bank.meanwhile = async (call) => {
    if (call.startsWith('receipt')) throw new RangeError('A fault');
  };
  const file = `${temporary}/never.pdf`;
  await expect(payer.run(operation('run', '--receipt', file))).rejects.toThrow(new RangeError('A fault'));
});

it('the status is asked for with the transaction of the operation, or with a new one', async () => {
  const { bank, payer } = await payerWith(temporary);
  await payer.run(operation('verify'));
  const { flows } = await payer.open().context.store();
  const own = (await flows.find('operation', 'pay-1')).transactionId;
  await payer.run(at('status'));
  await payer.run(operation('status', '--resource', 'pay-1'));
  bank.payments.push({ ...bank.last, id: 'elsewhere' });
  await payer.run(operation('status', '--resource', 'elsewhere'));
  const [first, second, third] = bank.transactions;
  expect([first, second]).toEqual([own, own]);
  expect(third).toMatch(/^[0-9a-f-]{36}$/);
  expect(third).not.toBe(own);
});

const folder = useFolder(temporary);

const run = async (verb: string, ...words: string[]) => {
  const { context } = openCommand(folder, '2026-03-01T10:00:00.000Z', { globals: { yes: true } });
  await runIn(context, 'operation', verb, ...words);
};

const TWICE = ['--data', '{}', '--verify-data', '{}', '--verify-data'];
it.each([
  ['run', [...NAMED, '--data', ''], '--data is not JSON'],
  ['run', [...NAMED, '--data', '{', '--verify-data', '{'], '--verify-data is not JSON'],
  ['run', [...NAMED, '--data', '@'], '--data'],
  ['run', [...NAMED, ...TWICE, ''], '--verify-data is not JSON'],
  ['run', [...NAMED, '--verify-data', '-', '--verify-data', '-'], 'read standard input'],
  ['run', [...NAMED, '--data', '-', '--verify-data', '-'], 'read standard input'],
  ['run', ['standingOrder', '--account', ''], '""'],
  ['run', ['', '--account', '0000012345'], 'The operation name "" is not a word'],
  ['run', [...NAMED, '--receipt', ''], 'file for the document is missing'],
  ['verify', [...NAMED, '--data', '{'], '--data is not JSON'],
  ['verify', [...NAMED, '--data', 'false', '--resource', ''], 'empty'],
  ['sca', [...NAMED, '--resource', ''], 'empty'],
  ['execute', [...NAMED, '--resource', ''], 'empty'],
  ['status', [...NAMED, '--resource', ''], 'empty'],
  ['resume', [''], 'empty'],
])('psd2 operation %s %j begins and sends nothing', async (verb, words, message) => {
  await expect(run(verb, ...words)).rejects.toMatchObject({ message: expect.stringContaining(message) });
  const { context, printed } = openCommand(folder, '2026-03-01T10:00:00.000Z');
  await runIn(context, 'operation', 'list');
  expect(JSON.parse(printed())).toEqual([]);
});
