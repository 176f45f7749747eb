import { beforeEach, expect, it } from 'vitest';
import { findOperation } from '../../../src/commands/operation/name.ts';
import { parseProductId } from '../../../src/domain/identifiers.ts';
import { Psd2Error } from '../../../src/errors.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeOperation } from '../access.ts';
import { BankHere, OWN_ACCOUNT } from '../bank-here.ts';
import { openCommand, runIn } from '../command.ts';
import { endOf, payerAt } from '../payer-here.ts';

// Where each command about an operation stops, what it needs to be confirmed, and what it sends once only.

const temporary = temporaryFolder();
const NAMED = ['standingOrder', '--account', OWN_ACCOUNT];
const operation = (verb: string, ...more: string[]) => ['operation', verb, ...NAMED, ...more];
const at = (verb: string, ...more: string[]) => operation(verb, '--resource', 'op-1', ...more);
const CLIENT_CREDENTIALS = { globals: { grant: 'client_credentials' } } as const;

it('each further verification stops before the next one, and the last one before the confirmation', async () => {
  const bank = new BankHere();
  bank.verified = { nextStep: 'verify2' };
  bank.furtherSteps = ['verify3'];
  const payer = await payerAt(bank, temporary);
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
  const bank = new BankHere();
  bank.verified = { nextStep: 'verify2' };
  const payer = await payerAt(bank, temporary);
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
  const bank = new BankHere();
  bank.customersAgree = false;
  const payer = await payerAt(bank, temporary);
  const how = { yes: false, globals: { scaTimeout: '1' } };
  await payer.run(operation('verify'), how);
  expect((await payer.run(at('sca'), how)).failure?.code).toBe('authorisation_timeout');
  bank.last.decision = 'AUTHORIZED';
  expect((await payer.run(at('sca'), how)).data.state).toBe('authorized');
  expect((await payer.run(at('execute'), how)).data.state).toBe('executed');
  expect(
    payer
      .journal('op-1')
      .map(({ type }) => type)
      .filter((type) => String(type) === 'accepted'),
  ).toHaveLength(1);
});

it('what became of execute can be asked without the customer, with execute again and with resume', async () => {
  const bank = new BankHere();
  bank.next = { becomes: null };
  const payer = await payerAt(bank, temporary);
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

it('an operation that was executed needs no step more, and its resume sends nothing', async () => {
  const bank = new BankHere();
  const payer = await payerAt(bank, temporary);
  await payer.run(operation('run'));
  bank.calls.length = 0;
  const ends = [await payer.run(at('sca')), await payer.run(at('verify'))].map(endOf);
  expect(ends).toEqual([
    ['exit 2, usage: op-1 is executed, so its next step is not sca'],
    ['exit 2, usage: op-1 is executed, so its next step is not verify'],
  ]);
  const resumed = await payer.run(['operation', 'resume', 'op-1']);
  expect([resumed.data.state, endOf(resumed), bank.calls]).toEqual(['executed', ['done'], []]);
});

it.each([
  ['with --yes repeats it', { yes: true }, '$ operation resume op-1 --yes'],
  ['at a terminal has nothing to repeat', { answers: [] }, '$ operation resume op-1'],
])('the way on from an operation that was begun %s', async (_, how, command) => {
  const bank = new BankHere();
  bank.meets('verify', 'lost');
  const payer = await payerAt(bank, temporary);
  expect(endOf(await payer.run(operation('run'), how))).toEqual([
    'exit 11, bank_unreachable of op-1: The connection was lost',
    ...['Continue with:', command, 'transactionId: "an-id"'],
  ]);
});

it('a fault while the receipt is read is not taken for an answer of the bank', async () => {
  const bank = new BankHere();
  const payer = await payerAt(bank, temporary);
  bank.meanwhile = async (call) => {
    if (call.startsWith('receipt')) throw new RangeError('A fault');
  };
  const file = `${temporary}/never.pdf`;
  await expect(payer.run(operation('run', '--receipt', file))).rejects.toThrow(new RangeError('A fault'));
});

it('the status is asked for with the transaction of the operation, or with a new one', async () => {
  const bank = new BankHere();
  const payer = await payerAt(bank, temporary);
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

it('the data of the first step must be JSON too', async () => {
  const bank = new BankHere();
  const payer = await payerAt(bank, temporary);
  expect(endOf(await payer.run(operation('verify', '--data', '{')))).toEqual(
    endOf(await payer.run(operation('run', '--data', '{'))),
  );
  expect(bank.calls).toEqual([]);
});

const STANDING = ['standingOrder', '--account', '0000012345'];

let folder: StoreFolder;
beforeEach(() => {
  folder = newConfigFolder(temporary);
});

const run = async (verb: string, ...words: string[]) => {
  const { context } = openCommand(folder, '2026-03-01T10:00:00.000Z', { globals: { yes: true } });
  await runIn(context, 'operation', verb, ...words);
};

it.each([
  ['run', [...STANDING, '--data', ''], '--data is not JSON'],
  ['run', [...STANDING, '--data', '{', '--verify-data', '{'], '--verify-data is not JSON'],
  ['run', [...STANDING, '--data', '@'], '--data'],
  [
    'run',
    [...STANDING, '--data', '{}', '--verify-data', '{}', '--verify-data', ''],
    '--verify-data is not JSON',
  ],
  ['run', [...STANDING, '--verify-data', '-', '--verify-data', '-'], 'read standard input'],
  ['run', [...STANDING, '--data', '-', '--verify-data', '-'], 'read standard input'],
  ['run', ['standingOrder', '--account', ''], '""'],
  ['run', ['', '--account', '0000012345'], 'The operation name "" is not a word'],
  ['run', [...STANDING, '--receipt', ''], 'file for the document is missing'],
  ['verify', [...STANDING, '--data', 'false', '--resource', ''], 'empty'],
  ['sca', [...STANDING, '--resource', ''], 'empty'],
  ['execute', [...STANDING, '--resource', ''], 'empty'],
  ['status', [...STANDING, '--resource', ''], 'empty'],
  ['resume', [''], 'empty'],
])('psd2 operation %s %j begins and sends nothing', async (verb, words, message) => {
  await expect(run(verb, ...words)).rejects.toMatchObject({ message: expect.stringContaining(message) });
  const { context, printed } = openCommand(folder, '2026-03-01T10:00:00.000Z');
  await runIn(context, 'operation', 'list');
  expect(JSON.parse(printed())).toEqual([]);
});

const PRODUCT = '0000012345';

it('a step of an operation needs the name and the account that the operation began with', async () => {
  const { context } = openCommand(newConfigFolder(temporary), '2026-11-21T12:00:00.000Z');
  const flow = await storeOperation(context, { from: parseProductId(PRODUCT) });
  expect(await findOperation(context, 'standingOrder', PRODUCT, flow)).toMatchObject({ flow });
  for (const [name, product] of [
    ['standingOrder', '0000067890'],
    ['periodicPayment', PRODUCT],
  ] as const) {
    await expect(findOperation(context, name, product, flow)).rejects.toMatchObject({
      code: 'usage',
      message: `${flow} is a standingOrder of the account ${PRODUCT}`,
    });
  }
});
