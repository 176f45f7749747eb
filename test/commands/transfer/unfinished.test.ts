import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Context } from '../../../src/commands/context.ts';
import { collect } from '../../../src/commands/flow/list.ts';
import { resumeAll } from '../../../src/commands/transfer/resume-all.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { type ErrorContext, Psd2Error } from '../../../src/errors.ts';
import { CallLog } from '../../../src/store/machine/call-log.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { BankHere, OWN_IBAN, type PaymentHere } from '../bank-here.ts';
import { ANNA, CREATE, endOf, NOW, payerAt, payerWith, TODAY } from '../payer-here.ts';

// Transfers that a command left unfinished: psd2 continues them, shows them and asks the bank about them.

const temporary = temporaryFolder();
/** `--customer` for somebody else. */
const OTHER = { globals: { customer: '1000002' }, given: ['customer'] };
const failing = () => new Psd2Error('bank_failing', 'The bank is failing');
const refused = () => new Psd2Error('bank_refused', 'Gone', { refusal: 'other', isBanks: true });

/** An operator whose first transfer waits for its customer. */
async function withWaiting(bank = new BankHere(), ...more: string[]) {
  bank.customersAgree = false;
  const payer = await payerAt(bank, temporary);
  const { failure } = await payer.run([...CREATE, ...more], { globals: { scaTimeout: '1' } });
  expect(failure?.code).toBe('authorisation_timeout');
  bank.customersAgree = true;
  bank.calls.length = 0;
  payer.leaveBehind();
  return { bank, payer };
}

it('psd2 continues the only unfinished transfer without its name, and sends nothing twice', async () => {
  const { bank, payer } = await withWaiting();
  bank.last.decision = 'AUTHORIZED';
  const { said, data, failure } = await payer.run(['transfer', 'resume']);
  expect([failure, data.state, said, bank.calls]).toMatchInlineSnapshot(`
    [null, "executed",
     "Continuing the only unfinished transfer: tr-1  12.50 EUR to Mario Rossi, authorizing, begun NOW
    Transfer tr-1
    ",
     ["status pay-1", "execute pay-1"]]
  `);
  // Nobody gave further data, so none is recorded.
  expect(payer.events('tr-1')).not.toContain('further-data');
  expect(endOf(await payer.run(['transfer', 'resume']))).toMatchInlineSnapshot(
    `["exit 2, usage: There is no unfinished transfer", "See all of them with:", "$ transfer list"]`,
  );
  expect(endOf(await payer.run(['transfer', 'resume'], OTHER))).toMatchInlineSnapshot(`
    ["exit 2, usage: There is no unfinished transfer of customer 1000002", "See all of them with:",
     "$ transfer list"]
  `);
});

it('of several unfinished transfers, a person chooses one', async () => {
  const { bank, payer } = await withWaiting();
  bank.customersAgree = false;
  await payer.run([...CREATE, '--amount', '7'], { globals: { scaTimeout: '1' } });
  bank.customersAgree = true;
  payer.leaveBehind();
  await payer.run(['transfer', 'list']);
  const { asked, data } = await payer.run(['transfer', 'resume'], { answers: ['tr-'] });
  expect([asked, data.state]).toMatchInlineSnapshot(`
    [["Which transfer do you want to continue?",
      "- tr-2  7.00 EUR to Mario Rossi, authorizing, begun NOW (tr-2  7.00 EUR to Mario Rossi, authorizing, begun NOW)",
      "- tr-1  12.50 EUR to Mario Rossi, authorizing, begun NOW (tr-1  12.50 EUR to Mario Rossi, authorizing, begun NOW)"],
     "executed"]
  `);
});

it('a transfer that the customer has not confirmed yet follows all rules of a new one', async () => {
  const { bank, payer } = await payerWith(temporary, { lacks: ['operations'] });
  bank.meets('verify', failing());
  await payer.run([...CREATE, '--instant', '--payee-verified']);
  const resume = ['transfer', 'resume', 'tr-1'];
  const ends = [
    await payer.run(resume),
    await payer.run([...resume, '--payee-verified'], { yes: false }),
    await payer.run([...resume, '--payee-verified'], { env: { PSD2_MAX_AMOUNT: '1' } }),
    await payer.run([...resume, '--payee-verified'], { globals: { grant: 'client_credentials' } }),
    await payer.run([...resume, '--paste']),
    await payer.run([...resume, '--verify-data', '{}']),
    await payer.run(['transfer', 'resume', 'tr-9']),
  ].map(endOf);
  expect(ends).toMatchInlineSnapshot(`
    [["exit 2, confirmation_needed: An instant transfer needs a verified payee, and psd2 cannot ask without a terminal",
      "Verify that the name belongs to the IBAN, then add --payee-verified; or set PSD2_PAYEE_CHECK. psd2 has sent nothing."],
     ["exit 2, confirmation_needed: A transfer needs a confirmation, and psd2 cannot ask without a terminal",
      "Add --yes to confirm in advance. psd2 has sent nothing."],
     ["exit 2, invalid_amount: The amount 12.50 EUR is more than the 1 EUR that the profile env allows",
      "psd2 has sent nothing. The limit is the setting --max-amount of the profile, or PSD2_MAX_AMOUNT."],
     ["exit 2, usage: This needs the customer, so it needs the grant authorization_code",
      "Leave out --grant client_credentials."],
     ["exit 2, usage: --paste asks for an address, and psd2 cannot ask without a terminal",
      "Use a redirect URI on this machine instead (PSD2_REDIRECT_URI)."],
     ["exit 2, usage: The interface of this bank, here, has no --verify-data"],
     ["exit 2, flow_not_found: No flow of this profile matches "tr-9"",
      "Give the id that psd2 printed, or the resource id."]]
  `);
  expect(bank.sent).toEqual(['verify transfer']);
  const { failure, data } = await payer.run([...resume, '--payee-verified']);
  expect([failure, data.state]).toEqual([null, 'settled']);
});

it('a transfer that was confirmed needs no second confirmation', async () => {
  const { bank, payer } = await withWaiting(new BankHere(), '--instant', '--payee-verified');
  bank.last.decision = 'AUTHORIZED';
  const ran = await payer.run(['transfer', 'resume', 'tr-1'], { yes: false, env: { PSD2_MAX_AMOUNT: '1' } });
  expect([ran.failure, ran.data.state]).toEqual([null, 'settled']);
});

it('the data of a further step may be given later', async () => {
  const { bank, payer } = await payerWith(temporary);
  bank.verified = { nextStep: 'verify2' };
  const first = await payer.run(CREATE);
  expect(endOf(first)).toMatchInlineSnapshot(`
    ["exit 2, further_data_needed of tr-1: The bank requires further data before SCA, in the step verify2",
     "Give it as JSON: as text, as @file, or as - for standard input. Continue with:",
     "$ transfer resume tr-1 --verify-data - --yes", "transactionId: "an-id""]
  `);
  const resume = ['transfer', 'resume', 'tr-1', '--verify-data', '-'];
  const { failure } = await payer.run(resume, { stdin: '{"otp":"1"}' });
  expect([failure, bank.calls[1]]).toEqual([null, 'verify further pay-1 verify2 {"otp":"1"}']);
});

it('--all continues every unfinished transfer, the oldest first, and exits as the first failure', async () => {
  const { bank, payer } = await withWaiting();
  bank.customersAgree = false;
  for (const amount of ['7', '8'])
    await payer.run([...CREATE, '--amount', amount], { globals: { scaTimeout: '1' } });
  await payer.run(CREATE, { globals: { scaTimeout: '1' } });
  const [first, second, third] = bank.payments;
  for (const payment of [first, third]) Object.assign(payment ?? {}, { decision: 'AUTHORIZED' });
  Object.assign(second ?? {}, { decision: 'NOT_AUTHORIZED' });
  bank.calls.length = 0;
  const ran = await payer.run(['transfer', 'resume', '--all'], {
    format: 'table',
    globals: { scaTimeout: '1' },
  });
  expect(ran.printed.replaceAll(NOW, 'NOW')).toMatchInlineSnapshot(`
    "tr-1	executed	12.50 EUR	Mario Rossi	IT60X0542811101000000123456	NOW	0000012345		1048262
    tr-2	rejected	7.00 EUR	Mario Rossi	IT60X0542811101000000123456	NOW	0000012345		1048262
    tr-3	executed	8.00 EUR	Mario Rossi	IT60X0542811101000000123456	NOW	0000012345		1048262
    tr-4	authorizing	12.50 EUR	Mario Rossi	IT60X0542811101000000123456	NOW	0000012345		1048262
    "
  `);
  expect([ran.said, endOf(ran), bank.sent]).toMatchInlineSnapshot(`
    ["Transfer tr-1
    Paid 12.50 EUR to Mario Rossi, executed after 1 s, CRO cro-pay-1, tr-1.
    Transfer tr-2
    Transfer tr-2: The customer did not authorise the transfer. No money moved. You can make a new one.
    Transfer tr-3
    Paid 8.00 EUR to Mario Rossi, executed after 1 s, CRO cro-pay-3, tr-3.
    Transfer tr-4
    Open this address in the customer's browser:
      https://customers.bank.example/pay-4
    Transfer tr-4: The customer did not authorise the transfer within 1 s. Continue with: psd2 transfer resume tr-4
    ",
     ["exit 6, not_authorised: 2 of 4 transfers could not be continued. First failure: The customer did not authorise the transfer",
      "See what is left with:", "$ transfer list --attention"],
     ["execute pay-1", "execute pay-3", "sca pay-4"]]
  `);
  bank.last.decision = 'AUTHORIZED';
  const rest = await payer.run(['transfer', 'resume', '--all']);
  expect([rest.failure, rest.data.length, rest.data[0]?.state]).toEqual([null, 1, 'executed']);
  const none = await payer.run(['transfer', 'resume', '--all'], { format: 'table' });
  expect([none.printed, none.said, none.failure]).toMatchInlineSnapshot(`
    ["",
     "No transfer is unfinished.
    ",
     null]
  `);
});

it('--all is for all transfers, so the options for one are refused', async () => {
  const { bank, payer } = await withWaiting();
  const all = ['transfer', 'resume', '--all'];
  const ends = [
    await payer.run([...all, 'tr-1']),
    await payer.run([...all, '--payee-verified']),
    await payer.run([...all, '--paste']),
    await payer.run([...all, '--verify-data', '{}']),
    await payer.run([...all, '--psu-id', 'emil']),
    await payer.run(['transfer', 'resume', '--psu-id-type', 'x']),
  ].map(endOf);
  expect(ends).toMatchInlineSnapshot(`
    [["exit 2, usage: --all and the name of a transfer cannot be used together"],
     ["exit 2, usage: --payee-verified is for one transfer, so it cannot be used with --all",
      "Continue that transfer by its name."],
     ["exit 2, usage: --paste is for one transfer, so it cannot be used with --all",
      "Continue that transfer by its name."],
     ["exit 2, usage: --verify-data is for one transfer, so it cannot be used with --all",
      "Continue that transfer by its name."],
     ["exit 2, usage: --psu-id is for one transfer, so it cannot be used with --all",
      "Continue that transfer by its name."],
     ["exit 2, usage: The person who authorises it needs --psu-id",
      "--psu-id-type and --psu-corporate-id say more of that person."]]
  `);
  expect(bank.calls).toEqual([]);
});

it('Ctrl-C ends --all at once', async () => {
  const { bank, payer } = await withWaiting();
  bank.meets('status', new Psd2Error('interrupted', 'Interrupted'));
  const ran = await payer.run(['transfer', 'resume', '--all']);
  expect([ran.failure?.code, ran.printed]).toEqual(['interrupted', '']);
});

it('the status is what the bank says now, and changes nothing', async () => {
  const { bank, payer } = await withWaiting();
  const journal = payer.journal('tr-1');
  const status = ['transfer', 'status', 'tr-1'];
  const seen: unknown[] = [];
  const look = async () => {
    const ran = await payer.run(status);
    const { authorizationStatus, executionStatus, state } = ran.data;
    seen.push([state, authorizationStatus, executionStatus, ran.said, ...endOf(ran)]);
  };
  await look();
  bank.last.decision = 'AUTHORIZED';
  bank.last.became = 'executed';
  await look();
  bank.meets('status', refused());
  await look();
  expect(seen).toMatchInlineSnapshot(`
    [["authorizing", "PENDING", null, "", "done"], ["authorizing", "executed", "executed", "", "done"],
     [undefined, undefined, undefined, "", "exit 7, bank_refused: Gone", "refusal: "other"",
      "isBanks: true"]]
  `);
  expect(payer.journal('tr-1')).toEqual(journal);
  expect(bank.sent).toEqual([]);
  expect((await payer.run(status, OTHER)).failure?.code).toBe('usage');
});

it('a transfer that never reached the bank has only its local record', async () => {
  const { bank, payer } = await payerWith(temporary);
  bank.meets('verify', new Psd2Error('too_many_calls', 'Too many', { refusal: 'unread', isBanks: true }));
  await payer.run(CREATE);
  bank.calls.length = 0;
  const { data, said } = await payer.run(['transfer', 'status', 'tr-1', '--watch']);
  expect([data.state, said, bank.calls]).toEqual(['created', '', []]);
});

it('the settlement of an instant transfer is asked for with its status', async () => {
  const { bank, payer } = await payerWith(temporary);
  bank.next = { settlement: 'PENDING' };
  await payer.run([...CREATE, '--instant', '--payee-verified']);
  bank.calls.length = 0;
  bank.last.settlement = 'KO';
  const { data, said } = await payer.run(['transfer', 'status', 'tr-1']);
  expect(data).toMatchObject({
    ...{ state: 'executed', executionStatus: 'KO', executionStatusDescription: 'Account closed' },
  });
  expect([said, bank.calls]).toEqual(['', ['status pay-1', 'settlement pay-1']]);
});

it('what psd2 has recorded of an execution counts more than a word of the bank that says less', async () => {
  const { payer } = await payerWith(temporary);
  const made = await payer.run([...CREATE, '--instant', '--payee-verified']);
  const { data } = await payer.run(['transfer', 'status', 'tr-1']);
  expect([made.data.executionStatus, data.executionStatus, data.authorizationStatus]).toEqual([
    ...['OK', 'OK', 'executed'],
  ]);
});

it('psd2 watches a transfer until the customer has decided', async () => {
  const { bank, payer } = await withWaiting();
  bank.fates.set('status', []);
  let looks = 0;
  const sleep = async () => {
    looks += 1;
    if (looks === 3) bank.last.decision = 'AUTHORIZED';
  };
  const ran = await payer.run(['transfer', 'status', 'tr-1', '--watch'], {
    changes: ({ world }) => ({ world: { ...world, sleep } }),
  });
  expect([ran.failure, ran.data.authorizationStatus, ran.said, looks, bank.calls.length]).toEqual([
    ...[null, 'AUTHORIZED'],
    ...['psd2 has not recorded this yet. Continue with: psd2 transfer resume tr-1\n', 3, 4],
  ]);
  bank.meets('status', new Psd2Error('interrupted', 'Interrupted'));
  bank.last.decision = 'PENDING';
  const stopped = await payer.run(['transfer', 'status', 'tr-1', '--watch']);
  expect([stopped.data.state, endOf(stopped)]).toMatchInlineSnapshot(`
    ["authorizing",
     ["exit 130, interrupted: Interrupted", "psd2 has changed nothing. Watch it again with:",
      "$ transfer status tr-1 --watch"]]
  `);
  bank.meets('status', failing());
  expect(endOf(await payer.run(['transfer', 'status', 'tr-1', '--watch']))).toMatchInlineSnapshot(
    `["exit 11, bank_failing: The bank is failing"]`,
  );
});

it('a bank whose customers commit may still reject what it has accepted, and psd2 records it', async () => {
  const { bank, payer } = await payerWith(temporary, { commits: 'by the customer' });
  bank.isFinal = false;
  await payer.run([...CREATE, '--reference', 'INV-1']);
  const plain = await payer.run(['transfer', 'status', 'tr-1']);
  expect([plain.data.transactionStatus, plain.said]).toEqual(['executed', '']);
  bank.last.became = 'cancelled';
  const { data, said } = await payer.run(['transfer', 'status', 'tr-1']);
  expect([data.state, data.transactionStatus, data.authorizationStatus, said]).toMatchInlineSnapshot(
    `["cancelled", "cancelled", null, ""]`,
  );
  const resumed = await payer.run(['transfer', 'resume', 'tr-1']);
  expect([resumed.data.state, ...endOf(resumed)]).toMatchInlineSnapshot(`
    ["cancelled", "exit 2, cancelled of tr-1: The transfer was cancelled before it was executed",
     "No money moved. You can make a new one.", "transactionId: "an-id""]
  `);
});

it('the receipt of an executed transfer is saved, and others have none', async () => {
  const { bank, payer } = await withWaiting();
  const file = join(temporary, 'receipt.pdf');
  const receipt = ['transfer', 'receipt', 'tr-1', '--file', file];
  expect(endOf(await payer.run(receipt))).toMatchInlineSnapshot(
    `["exit 2, usage: Transfer tr-1 is authorizing, so it has no receipt"]`,
  );
  bank.last.decision = 'AUTHORIZED';
  await payer.run(['transfer', 'resume', 'tr-1']);
  expect(endOf(await payer.run(['transfer', 'receipt', 'tr-1']))).toMatchInlineSnapshot(
    `["exit 2, usage: The file for the document is missing", "Add --file <path>."]`,
  );
  expect((await payer.run(receipt, OTHER)).failure?.code).toBe('usage');
  const { failure, data } = await payer.run(receipt);
  expect(failure).toBeNull();
  expect(Object.keys(data)).toEqual(['file', 'bytes']);
  expect(readFileSync(file, 'utf8')).toBe('receipt of pay-1');
});

it.each<[string, Partial<PaymentHere>, string, isSaved: boolean]>([
  ['that is settled', { settlement: 'OK' }, 'settled', true],
  ['that is not settled', { settlement: 'PENDING' }, 'executed', true],
  ['that the bank has rejected', { settlement: 'KO' }, 'failed', false],
])('of an instant transfer %s the receipt is saved, or there is none', async (_, next, state, isSaved) => {
  const { bank, payer } = await payerWith(temporary);
  bank.next = next;
  const made = await payer.run([...CREATE, '--instant', '--payee-verified']);
  const saved = await payer.run(['transfer', 'receipt', 'tr-1', '--file', join(temporary, 'instant.pdf')]);
  expect([made.data.state, saved.failure?.message ?? null]).toEqual([
    state,
    isSaved ? null : `Transfer tr-1 is ${state}, so it has no receipt`,
  ]);
});

it('what has ended before anybody confirmed it needs no confirmation to be looked at', async () => {
  const { payer } = await payerWith(temporary);
  await payer.run(CREATE, { answers: [false] });
  await payer.run(['transfer', 'cancel', 'tr-1']);
  const ran = await payer.run(['transfer', 'resume', 'tr-1'], { yes: false });
  expect([ran.data.state, ran.failure?.code]).toEqual(['cancelled', 'cancelled']);
});

it('of a cancelled transfer whose link may still work, the status is the local record if the bank has forgotten it', async () => {
  const { bank, payer } = await payerWith(temporary, { commits: 'by the customer' });
  bank.customersAgree = false;
  bank.linksStay = true;
  await payer.run(CREATE, { globals: { scaTimeout: '1' } });
  await payer.run(['transfer', 'cancel', 'tr-1']);
  bank.meets('status', refused(), refused(), refused());
  const { data, said, failure } = await payer.run(['transfer', 'status', 'tr-1']);
  expect([data.state, said, failure?.code]).toEqual([
    'cancelled',
    'The bank has no further status. Showing the local record. Gone\n',
    undefined,
  ]);
});

it('a list has the columns that tell transfers apart, and what is not there is said', async () => {
  const { payer } = await payerWith(temporary);
  const list = (...words: string[]) => payer.run(['transfer', 'list', ...words], { format: 'table' });
  expect((await list()).said).toBe('This profile has no transfers.\n');
  await payer.run([...CREATE, '--reference', 'INV-1']);
  const one = await list('--since', TODAY, '--until', TODAY, '--limit', '1', '--state', 'executed');
  expect(one.printed.replaceAll(NOW, 'NOW')).toBe(
    'tr-1\texecuted\t12.50 EUR\tMario Rossi\tIT60X0542811101000000123456\tNOW\t0000012345\tINV-1\t1048262\n',
  );
  const wrong = [
    await list('--state', 'paid'),
    await list('--limit', '0'),
    await list('--since', '2026-02-30'),
    await list('--since', '2026-02-03', '--until', '2026-02-02'),
    await list('--payee', ' '),
    await list('--amount', ''),
    await list('--amount', 'x'),
    await list('--reference', ''),
    await payer.run(['transfer', 'list'], { globals: { customer: 'x' } }),
  ].map(endOf);
  expect(wrong).toMatchInlineSnapshot(`
    [["exit 2, usage: Unknown state "paid"",
      "Use one of created, verified, authorizing, authorized, executing, ordered, executed, settled, failed, rejected, expired, cancelled, ended, unknown."],
     ["exit 2, usage: --limit "0" is not a whole number from 1"],
     ["exit 2, invalid_date: --since "2026-02-30" is a day that does not exist",
      "For example --since 2026-01-31."],
     ["exit 2, invalid_date: --until 2026-02-02 is before --since 2026-02-03"],
     ["exit 2, usage: The value of --payee is empty"],
     ["exit 2, usage: The value of --amount is empty"],
     ["exit 2, invalid_amount: The amount "x" is not a decimal number",
      "Use digits, with a point and at most two decimals, for example 12.50."],
     ["exit 2, usage: The value of --reference is empty"],
     ["exit 2, usage: The customer id "x" is not a number",
      "See the id of the logged-in customer with:", "$ customer id"]]
  `);
  expect((await payer.run(['transfer', 'list'])).data).toHaveLength(1);
  expect((await payer.run(['transfer', 'list'], { globals: { customer: ANNA } })).data).toHaveLength(1);
});

it('the debited account is shown with its IBAN where both are known and differ', async () => {
  const { bank, payer } = await payerWith(temporary, { commits: 'by the customer' });
  Object.assign(bank.interface, { readAccountId: (text: string) => text });
  await payer.run([...CREATE, '--from', OWN_IBAN]);
  const { printed } = await payer.run(['transfer', 'show', 'tr-1'], { format: 'table' });
  expect(printed).toContain(`from\t${OWN_IBAN}\n`);
});

// Transfers that psd2 continues or looks at: what the log of calls knows, who else works on them, and what became of them.

const TO = ['--to', 'IT60X0542811101000000123456', '--name', 'Mario Rossi', '--amount', '12.50'];
const LINKED = { commits: 'by the customer' } as const;

it('a transfer is not initiated again if the log of calls knows of an answer', async () => {
  const { bank, payer } = await payerWith(temporary, LINKED);
  bank.meets('verify', 'lost');
  await payer.run(CREATE);
  const { flows } = await payer.open().context.store();
  const log = new CallLog(payer.folder.log);
  for (const { transactionId } of await collect(flows.list('transfer')))
    log.append({
      ...{ at: NOW, profile: 'env', host: 'bank.example', method: 'POST', path: '/payments', failure: null },
      ...{ status: 201, milliseconds: 1, tppRequestId: 'request-1', requestId: null, apiTrackId: null },
      ...{ flow: null, irrevocable: true, transactionId, route: '/payments', kind: 'pis', verdict: 'began' },
    });
  log.close();
  expect(endOf(await payer.run(['transfer', 'resume', 'tr-1']))[0]).toBe(
    'exit 9, outcome_unknown of tr-1: The bank has answered the initiation, but the journal of tr-1 does not have the answer. It may be older than a link that the customer has, so psd2 initiates nothing',
  );
  expect(bank.sent).toEqual(['verify transfer']);
});

it('a transfer is initiated again if the log knows of no answer, and psd2 says so', async () => {
  const { bank, payer } = await payerWith(temporary, LINKED);
  bank.meets('verify', 'lost');
  await payer.run(CREATE);
  const { data, said } = await payer.run(['transfer', 'resume', 'tr-1']);
  expect(said).toContain('Nobody has the link to authorise that transfer, so psd2 initiates it again under');
  expect([data.state, bank.sent]).toEqual(['executed', ['verify transfer', 'verify transfer', 'sca pay-2']]);
});

it('the account to debit is read once if a person chooses it from the list', async () => {
  const { bank, payer } = await payerWith(temporary, LINKED);
  const answers = ['0000012345', '', true];
  const { failure } = await payer.run(['transfer', 'create', ...TO], { answers });
  expect(failure).toBeNull();
  expect(bank.calls.filter((call) => call.startsWith('accounts'))).toEqual([`accounts ${ANNA}`]);
});

it.each<[ErrorContext, string]>([
  [{}, 'The bank is failing.'],
  [{ hint: 'Wait.' }, 'The bank is failing. Wait.'],
  [
    { hint: 'Look at it with:', next: [['transfer', 'show', 'tr-1']] },
    'The bank is failing. Look at it with: psd2 --profile shop transfer show tr-1',
  ],
])('resume --all says of each transfer that fails why, and with %j what to do', async (advice, words) => {
  const { payer } = await withWaiting();
  const { context, said } = payer.open({ changes: () => ({ repeated: { profile: 'shop' } }) });
  const contexts: Context[] = [];
  const fails = async (own: Context) => {
    contexts.push(own);
    throw new Psd2Error('bank_failing', 'The bank is failing', advice);
  };
  await expect(resumeAll(context, fails)).rejects.toMatchObject({
    ...{ code: 'bank_failing', next: [['transfer', 'list', '--attention']] },
    message: '1 of 1 transfers could not be continued. First failure: The bank is failing',
  });
  expect(said().replace(/tr-[0-9a-z]{14}/, 'tr-1')).toBe(`Transfer tr-1: ${words}\n`);
  // What one of them changes is not repeated in the advice of another one.
  expect(contexts[0]?.repeated).toEqual({ profile: 'shop' });
  expect(contexts[0]?.repeated).not.toBe(context.repeated);
});

it('resume --all shows every unfinished transfer, so it names none as interrupted', async () => {
  const { bank, payer } = await withWaiting();
  const isForPerson = { changes: () => ({ isForPerson: true }) };
  expect((await payer.run(['transfer', 'list'], isForPerson)).said).toBe(
    'Waiting: transfer tr-1 (authorizing). Ask the bank with:\n  psd2 transfer resume tr-1\n',
  );
  bank.last.decision = 'AUTHORIZED';
  const { said, data } = await payer.run(['transfer', 'resume', '--all'], isForPerson);
  expect([said, data[0]?.state]).toEqual(['Transfer tr-1\n', 'executed']);
});

describe('the status of a transfer', () => {
  it('follows the journal while another psd2 works on it, and says where it is', async () => {
    const { bank, payer } = await withWaiting();
    const { flows } = await payer.open().context.store();
    const [{ flow } = { flow: '' }] = await collect(flows.list('transfer'));
    const seen: string[] = [];
    let text = () => '';
    const ran = await flows.resume('transfer', flow, async (open) =>
      payer.run(['transfer', 'status', 'tr-1', '--watch'], {
        changes: ({ terminal, world }) => ({
          world: {
            ...world,
            sleep: async () => {
              seen.push(text());
              await open.record({ type: 'authorization', status: 'NOT_AUTHORIZED', bankStatus: 'no' });
            },
          },
          terminal: {
            ...terminal,
            whileWaiting: (shown, work) => {
              text = () => (typeof shown === 'string' ? shown : shown());
              return work;
            },
          },
        }),
      }),
    );
    expect([ran.data.state, ran.failure, bank.calls]).toEqual(['rejected', null, []]);
    expect([...seen, text()].map((each) => each.replace(flow, 'tr-1'))).toEqual([
      'Watching the transfer tr-1, which is authorizing',
      'Watching the transfer tr-1, which is rejected',
    ]);
  });

  it('of one that was executed for good stays so, whatever the bank says now', async () => {
    const { bank, payer } = await payerWith(temporary, LINKED);
    await payer.run(CREATE);
    bank.last.became = 'failed';
    const { data, said } = await payer.run(['transfer', 'status', 'tr-1']);
    expect([data.state, said]).toEqual(['executed', '']);
  });

  it('of one that the bank has cancelled unasked says so again, and nothing new, if the bank says the same', async () => {
    const { bank, payer } = await payerWith(temporary, LINKED);
    bank.next = { becomes: 'cancelled' };
    expect((await payer.run(CREATE)).data.state).toBe('cancelled');
    const { data, said, failure } = await payer.run(['transfer', 'status', 'tr-1']);
    expect([data.state, said, failure?.code]).toEqual(['cancelled', '', 'cancelled']);
  });

  it.each([
    ['is settled', 'settled', ['--instant', '--payee-verified'], {}],
    ['the customer declined', 'rejected', [], { decision: 'NOT_AUTHORIZED' as const }],
  ])('of one that %s is the local record if the bank has forgotten it', async (_, state, more, next) => {
    const { bank, payer } = await payerWith(temporary);
    bank.next = next;
    await payer.run([...CREATE, ...more]);
    bank.calls.length = 0;
    bank.meets('status', refused(), failing());
    const { data, said, failure } = await payer.run(['transfer', 'status', 'tr-1']);
    expect([data.state, said, failure, bank.calls]).toEqual([
      ...[state, 'The bank has no further status. Showing the local record. Gone\n', null],
      ['status pay-1'],
    ]);
    expect((await payer.run(['transfer', 'status', 'tr-1'])).failure?.code).toBe('bank_failing');
  });

  it('of one whose execute was refused is not known if the bank does not have it', async () => {
    const { bank, payer } = await payerWith(temporary);
    bank.meets('execute', new Psd2Error('bank_refused', 'No', { refusal: 'content', isBanks: true }));
    expect((await payer.run(CREATE)).data.state).toBe('failed');
    bank.meets('status', refused());
    const ran = await payer.run(['transfer', 'status', 'tr-1']);
    expect([ran.printed, endOf(ran)[0]]).toEqual(['', 'exit 7, bank_refused: Gone']);
  });
});

it('a program reads in the list what it reads of each transfer', async () => {
  const payer = await payerAt(new BankHere(), temporary);
  const list = ['transfer', 'list'];
  expect([(await payer.run(list)).data, (await payer.run(list)).said]).toEqual([[], '']);
  for (const _ of ['first', 'second']) await payer.run(CREATE);
  const shown = [
    (await payer.run(['transfer', 'show', 'tr-2'])).data,
    (await payer.run(['transfer', 'show', 'tr-1'])).data,
  ];
  expect((await payer.run(list)).data).toEqual(shown);
  const { printed } = await payer.run(list, { format: 'csv' });
  const [titles = '', ...rows] = printed.trimEnd().split('\n');
  expect([titles.split(',').slice(0, 4), rows.map((row) => row.split(',')[0])]).toEqual([
    ['flow', 'kind', 'state', 'resourceId'],
    ['tr-2', 'tr-1'],
  ]);
});

it('with the grant of the application alone, a transfer is not continued, and the end of one that has ended is said', async () => {
  const globals = { grant: 'client_credentials' } as const;
  const { bank, payer } = await withWaiting();
  const words = ['transfer', 'resume', 'tr-1'];
  expect(endOf(await payer.run(words, { globals }))).toEqual([
    'exit 2, usage: This needs the customer, so it needs the grant authorization_code',
    'Leave out --grant client_credentials.',
  ]);
  expect(bank.calls).toEqual([]);
  bank.last.decision = 'NOT_AUTHORIZED';
  await payer.run(words);
  expect(endOf(await payer.run(words, { globals }))[0]).toBe(
    'exit 6, not_authorised of tr-1: The customer did not authorise the transfer',
  );
});

it('psd2 shows what the bank allows for transfers, to programs and to a person at a terminal', async () => {
  const { bank, payer } = await payerWith(temporary);
  const day = (text: string) => parseDate('--date', text);
  bank.terms = {
    ...{ today: day('2026-11-24'), earliestDate: day('2026-11-25'), latestDate: day('2027-11-24') },
    ...{ holidays: [day('2026-12-25'), day('2026-12-26')], urgent: true, sepa: true, currency: 'EUR' },
    currencies: [
      { code: 'EUR', label: 'Euro', rate: null },
      { code: 'USD', label: 'Dollar', rate: '1.1' },
    ],
    countries: [
      { code: 'IT', label: 'Italy' },
      { code: 'DE', label: 'Germany' },
    ],
  };
  const prepare = ['transfer', 'prepare', '0000012345'];
  const { printed, data } = await payer.run(prepare);
  expect(data).toMatchObject({ urgent: true, sepa: true, bankCode: null, currency: 'EUR' });
  expect(printed).toContain('"countries":[{"code":"IT","label":"Italy"},{"code":"DE","label":"Germany"}]');
  expect(bank.calls).toEqual(['terms 0000012345']);
  expect((await payer.run(['transfer', 'prepare', '1'])).failure?.code).toBe('invalid_product_id');
  expect(bank.calls).toHaveLength(1);
  expect((await payer.run(prepare, { format: 'table', stdout: 120 })).printed).toMatchInlineSnapshot(`
    "Today at the bank  2026-11-24
    Earliest date      2026-11-25
    Latest date        2027-11-24
    Bank holidays      2026-12-25 2026-12-26
    Currencies         EUR USD
    Countries          IT DE
    Urgent transfers   yes
    "
  `);
});
