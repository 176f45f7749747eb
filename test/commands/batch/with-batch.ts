import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Batch, BatchEvent } from '../../../src/domain/batch/batch.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { type AccountId, isAccountId, parseProductId } from '../../../src/domain/identifiers.ts';
import type { Commits, Initiation } from '../../../src/domain/operation.ts';
import { parseSepaIban } from '../../../src/domain/order/iban.ts';
import { parsePaymentAmount } from '../../../src/domain/order/payment-amount.ts';
import type { TransferEvent, TransferOrder } from '../../../src/domain/transfer.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { transferOrder } from '../../domain/orders.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { type BankHere, initiationOf, OWN_ACCOUNT } from '../bank-here.ts';
import { ANNA, endOf, type payerAt, payerWith, type Ran, TODAY } from '../payer-here.ts';

/** The IBAN of all payees. */
export const IBAN = 'DE89370400440532013000';
export const RUN = ['batch', 'run', 'batch-1'];

type Payer = Awaited<ReturnType<typeof payerAt>>;

/** Banks whose customers commit: without more, with bulk payments, with signing baskets. */
export const LINKED = { commits: 'by the customer' } as const;
export const BULK = { ...LINKED, bulk: { maxEntries: null } } as const;
export const BASKET = { ...LINKED, hasBaskets: true } as const;

export const interrupted = () => new Psd2Error('interrupted', 'Interrupted');
export const failing = (hint?: string) =>
  new Psd2Error('bank_failing', 'The bank is failing', hint === undefined ? {} : { hint });
export const refused = () =>
  new Psd2Error('bank_refused', 'Not this one', { refusal: 'content', isBanks: true });

type Terms = BankHere | ConstructorParameters<typeof BankHere>[0];

/** What the tests of a file need of batches, in a folder of theirs. */
export function useBatches() {
  const temporary = temporaryFolder();
  return {
    temporary,
    withFile: withFile.bind(null, temporary),
    withPayees: withPayees.bind(null, temporary),
    payees: (terms: Terms, ...names: string[]) => withPayees(temporary, terms, names),
    payeeCheck: (results: Record<string, string>) => ({ PSD2_PAYEE_CHECK: payeeCheck(temporary, results) }),
  };
}

/** An operator who has added a batch from a file of payments. @param text the CSV. @param more options of `psd2 batch add` */
export async function withFile(temporary: string, terms: Terms, text: string, more: string[] = []) {
  const { bank, payer } = await payerWith(temporary, terms);
  const path = join(temporary, 'payments.csv');
  writeFileSync(path, text);
  const added = await payer.run(['batch', 'add', path, ...more]);
  expect(added.failure).toBeNull();
  /** Runs the batch, or these words. @returns what it told */
  const pay = async (words: readonly string[] = RUN, how?: Parameters<Payer['run']>[1]) =>
    told(await payer.run(words, how));
  /** The same, with the calls that reached the bank then. */
  const payAnew = async (...how: Parameters<typeof pay>) => {
    bank.calls.length = 0;
    return [await pay(...how), [...bank.calls]];
  };
  return { bank, payer, pay, payAnew };
}

/** An operator who has added a batch of payments of 10, 11, ... EUR to these payees. */
export function withPayees(temporary: string, terms: Terms, names: string[], more: string[] = []) {
  const rows = names.map((name, index) => `${name},${IBAN},${index + 10},R-${index + 1}\n`);
  const text = `name,iban,amount,reference\n${rows.join('')}`;
  return withFile(temporary, terms, text, ['--from', OWN_ACCOUNT, ...more]);
}

/** A payee check that knows the results for these names. All others match. @returns the command */
export function payeeCheck(temporary: string, results: Record<string, string>): string {
  const path = join(temporary, 'payee-check.sh');
  const answer = (result: string) => `echo '{"result":"${result}","name":"Other"}';;`;
  const cases = Object.entries(results).map(([name, result]) => `*'"${name}"'*) ${answer(result)}`);
  writeFileSync(path, `case "$(cat)" in\n${cases.join('\n')}\n*) ${answer('match')}\nesac\n`);
  return `sh '${path}'`;
}

/** Makes a bank take the IBAN of an account as its id. @returns the same bank */
export function takingIbans(bank: BankHere): BankHere {
  const readAccountId = (text: string): AccountId => {
    if (isAccountId(text)) return text;
    throw new TypeError('This is no account');
  };
  Object.assign(bank.interface, { readAccountId });
  return bank;
}

/** The store of an operator, with the batch that was added last. */
export async function storeOf(payer: Payer) {
  const { batches, flows } = await payer.open().context.store();
  const read = async (): Promise<Batch> => {
    for await (const batch of batches.list(() => {})) return batch;
    throw new TypeError('There is no batch');
  };
  const { batch } = await read();
  const change = async (event: BatchEvent) => void (await batches.change(batch, () => event));
  return { batches, flows, batch, read, change };
}

/**
 * Begins the transfer of a line, as a run does.
 *
 * @param events the events after the first. @param isNoted whether the batch says that it pays the line
 */
export async function beginLine(
  { flows, batches, batch }: Awaited<ReturnType<typeof storeOf>>,
  line: number,
  {
    events = [],
    isNoted = true,
    ...begun
  }: {
    events?: TransferEvent[];
    isNoted?: boolean;
    initiation?: Initiation;
    order?: Partial<TransferOrder>;
    commits?: Commits;
  } = {},
): Promise<string> {
  const order = transferOrder({
    ...{ instant: false, type: null, reference: `R-${line}`, batch: { batch, line }, customerId: ANNA },
    ...{ to: parseSepaIban(IBAN), amount: parsePaymentAmount(`${line + 9}`), description: '' },
    ...{ name: ['Ada', 'Bea', 'Cleo'][line - 1] ?? '', executionDate: parseDate('--date', TODAY) },
    ...begun.order,
  });
  const { initiation, commits = 'by the customer' } = begun;
  const transactionId = `aaaaaaaa-bbbb-4ccc-8ddd-00000000000${line}`;
  const first = { transactionId, commits, order, furtherData: [], ...(initiation && { initiation }) };
  const flow = await flows.begin('transfer', first, async (open) => {
    for (const event of events) await open.record(event);
    return open.current.flow;
  });
  if (isNoted) await batches.change(batch, () => ({ type: 'line-begun', line, flow }));
  return flow;
}

/** Begins the bulk payment of lines of 10 and 11 EUR, as a run does. @returns its id */
export async function beginBulk(
  { flows, batches, batch, read }: Awaited<ReturnType<typeof storeOf>>,
  { customerId = ANNA }: { customerId?: string } = {},
): Promise<string> {
  const orders: TransferOrder[] = [];
  const of = await read();
  for (const flow of of.flows.values()) orders.push((await flows.find('transfer', flow)).order);
  const lines = [...of.flows.keys()];
  const purpose = {
    ...{ batch, lines, amount: '21.00', largest: '11.00', currency: 'EUR' },
    ...{ instant: false, futureDated: false },
  };
  const order = {
    ...{ customerId, from: parseProductId(OWN_ACCOUNT), operation: 'bulk-payments' },
    data: JSON.stringify(purpose),
  };
  const initiation = initiationOf('bulk-payments', orders, {
    address: 'https://tpp.example/callback?state=s',
    state: 's',
  });
  const begun = {
    transactionId: 'aaaaaaaa-bbbb-4ccc-8ddd-000000000009',
    commits: 'by the customer',
    order,
  } as const;
  const flow = await flows.begin(
    'operation',
    { ...begun, furtherData: [], initiation },
    async (open) => open.current.flow,
  );
  await batches.change(batch, () => ({ type: 'bulk-begun', flow, lines }));
  return flow;
}

/** How runs end most often, in fewer words. Whatever differs in one letter stays as it is. */
const ENDS: [whole: RegExp, short: string][] = [
  [
    /exit 9, outcome_unknown: The outcome of (\d+) of (\d+) payments is not known\nDo not make them again\. psd2 asks the bank with run\. .+:\n\$ batch run (batch-\d)\n\$ batch resolve \3 --not-executed$/,
    'exit 9, unknown $1 of $2: run $3',
  ],
  [
    /exit 8, payment_failed: (\d+) of (\d+) payments (?:was|were) not made\nGo on with:\n\$ batch run (batch-\d)$/,
    'exit 8, unpaid $1 of $2: run $3',
  ],
  [
    /exit 8, payment_failed: (\d+) of (\d+) payments (?:was|were) not made\nMake a new batch of those that are known not to be paid with:\n\$ batch retry (batch-\d)$/,
    'exit 8, unpaid $1 of $2: retry $3',
  ],
  [
    /exit 8, payment_failed: (\d+) of (\d+) payments (?:was|were) not made\npsd2 refused them and sent nothing: their reasons say what to correct\. See them with:\n\$ batch report (batch-\d)$/,
    'exit 8, refused $1 of $2: report $3',
  ],
  [
    /exit 6, not_authorised: (\d+) of (\d+) payments awaits? (?:its|their) customer\npsd2 asks the bank for their decisions with:\n\$ batch run (batch-\d)$/,
    'exit 6, awaited $1 of $2: run $3',
  ],
  [
    /exit 13, still_open: (\d+) of (\d+) payments awaits? (?:its|their) customer\. (?:The payment is|These payments are) not over: somebody can still authorise (?:it|them)\nAsk the bank for their decisions, or cancel what is not paid:\n\$ batch run (batch-\d)\n\$ batch cancel \3$/,
    'exit 13, open $1 of $2: run $3',
  ],
  [
    /exit 130, interrupted: Interrupted\nDo not pay these payments in another way\. psd2 goes on, and pays nothing twice, with:\n\$ batch run (batch-\d)$/,
    'exit 130: run $1',
  ],
];

/** What became of each line, what psd2 said, and how the run ended. */
export const told = (ran: Ran) => [
  ...(Array.isArray(ran.data)
    ? ran.data.map(({ line, state, flow, reason }) => [line, state, flow, reason].join(' '))
    : []),
  ...ran.said
    .trimEnd()
    .split('\n')
    .filter((line) => !/^Open this address|^ {2}https:|^$/.test(line)),
  ...ENDS.reduce((text, end) => text.replace(...end), endOf(ran).join('\n')).split('\n'),
];

/** What a run tells if it has paid so many payments, which are all, of 10, 11, ... EUR. */
export function paid(count: number): string[] {
  const lines = Array.from({ length: count }, (_, index) => index + 1);
  const sum = lines.reduce((total, line) => total + line + 9, 0);
  return [
    ...lines.map((line) => `${line} executed tr-${line} `),
    ...[`${count} of ${count} paid (${sum}.00 EUR).`, 'done'],
  ];
}
