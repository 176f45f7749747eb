import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import type { Capability } from '../../../src/bank/ports/bank.ts';
import { exportCustomer } from '../../../src/commands/customer/export.ts';
import { forget } from '../../../src/commands/customer/forget.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import type { ConsentEvent } from '../../../src/domain/consent.ts';
import { paymentHolder } from '../../../src/domain/identifiers.ts';
import { parseSepaIban } from '../../../src/domain/order/iban.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { readCalls } from '../../../src/store/machine/call-log.ts';
import { rememberSyncFolder } from '../../../src/store/machine/sync-folders.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { keepConsent, storeConsent, storeConsentFlow, storeLogin, storeOperation } from '../access.ts';
import { OWN_IBAN } from '../bank-here.ts';
import { cellsIn, runIn } from '../command.ts';
import { failureOf } from '../failure.ts';
import { bankWhere } from '../named-bank.ts';
import { useOperatorOfEachTest } from '../operator.ts';
import { addBatch, changeBatch, logCall, type Reached, storeTransfer } from './stored.ts';

const temporary = temporaryFolder();
const operator = useOperatorOfEachTest();
const [ANNA, BRUNO] = ['1048262', '2073915'];
const ACCOUNT = '0000012345';
const PAYEE = 'DE89370400440532013000';
const YES = { globals: { yes: true } } as const;
const ELSEWHERE = [
  'backups of the store and of this machine',
  'files that other commands have saved: exports, reports, receipts, batch files and bundles of the log',
  'the log of calls and the sync folders of other machines: run the same command there',
];

const proof = z.looseObject({
  pseudonym: z.nullable(z.string()),
  atBank: z.record(z.enum(['tokens', 'consents', 'refused']), z.array(z.string())),
  removed: z.array(z.object({ name: z.string(), count: z.int() })),
  damagedBatches: z.array(z.string()),
  pseudonymised: z.object({ flows: z.array(z.string()), batches: z.array(z.string()), auditLines: z.int() }),
});
const forgetAnna = (...more: string[]) => operator.json(proof, ['customer', 'forget', ANNA, ...more], YES);
const forgetting = (customer: string, how: Parameters<typeof operator.run>[1] = YES) =>
  operator.json(proof, ['customer', 'forget', customer], how);
/** Nobody approves the batch. */
const reject = (batch: string) =>
  operator.run(['batch', 'reject', batch, '--by', 'bea', '--note', 'no'], YES);
/** Rows of a file of payments: name, amount, and the account or the customer that pays. */
const csv = (columns: string, ...rows: string[]) =>
  [`name,iban,amount,${columns}`, ...rows.map((row) => row.replace(' ', `,${PAYEE},`)), ''].join('\n');
const refusal = (...more: string[]) => failureOf(operator.run(['customer', 'forget', ANNA, ...more], YES));
const isLoggedIn = async (customer: string) => {
  const { tokens } = await operator.open().context.store();
  return (await tokens.login(customer)) !== undefined;
};
const linesOf = async (batch: string) => {
  const { batches } = await operator.open().context.store();
  return batches.lines(await batches.find(batch));
};

it('a customer about whom nothing is stored is forgotten without a question, and the proof is empty', async () => {
  const { printed, said, context } = await operator.run(['customer', 'forget', ANNA]);
  const printedProof: unknown = JSON.parse(printed());
  expect(printedProof).toEqual({
    ...{ profile: 'env', customerId: ANNA, pseudonym: null, forgottenAt: context.world.now().toISOString() },
    ...{ atBank: { tokens: [], consents: [], refused: [] }, removed: [], damagedBatches: [] },
    ...{ pseudonymised: { flows: [], batches: [], auditLines: 0 }, elsewhere: ELSEWHERE },
  });
  expect(forget.prints?.shape.is(printedProof)).toBe(true);
  expect(said()).toContain(`psd2 has nothing stored about customer ${ANNA} of env.`);
});

it.each([
  [[], 1, 0, '0 flows and 1 login', ' Consents and tokens end at the bank.'],
  [['--no-revoke'], 1, 0, '0 flows and 1 login', ''],
  [[], 0, 1, '1 flow and 0 logins', ' Consents and tokens end at the bank.'],
  [[], 1, 2, '2 flows and 1 login', ' Consents and tokens end at the bank.'],
])('with %j, %i logins, %i transfers the question says: %s', async (words, logins, transfers, what, bank) => {
  const { context } = operator.open();
  if (logins > 0) await storeLogin(context, ANNA);
  for (const reference of ['a', 'b'].slice(0, transfers))
    await storeTransfer(context, ANNA, 'settled', { reference });
  const refused = (how = {}) => failureOf(operator.run(['customer', 'forget', ANNA, ...words], how));
  expect(await refused()).toEqual({
    ...{ code: 'confirmation_needed', exitCode: 2 },
    message: 'Forgetting a customer needs a confirmation, and psd2 cannot ask without a terminal',
    hint: 'Add --yes. To keep a copy of the data, first run psd2 customer export.',
  });
  const confirm = vi.fn(async (_question: string) => false);
  expect(await refused({ operator: { confirm } })).toEqual({
    ...{ code: 'cancelled', exitCode: 2, message: 'Nothing was forgotten' },
  });
  const question = `Forget customer ${ANNA} of env, with ${what}? This cannot be undone.${bank}`;
  expect(confirm.mock.calls).toEqual([[question]]);
  expect(await isLoggedIn(ANNA)).toBe(logins > 0);
});

describe('what is not over', () => {
  it.each<Reached>(['created', 'executed', 'unknown', 'failed'])(
    'a transfer that is %s keeps its customer',
    async (reached) => {
      const { context } = operator.open();
      const flow = await storeTransfer(context, ANNA, reached);
      await storeTransfer(context, BRUNO, reached, { reference: 'theirs' });
      expect(await refusal()).toEqual({
        ...{ code: 'config', exitCode: 3, flow, next: [['transfer', 'resume', flow]] },
        message: `Customer ${ANNA} has unfinished payments: ${flow} (${reached})`,
        hint: 'Nothing was forgotten. First find out what became of each, or cancel it:',
      });
    },
  );

  it.each<[Reached, Parameters<typeof storeTransfer>[3]]>([
    ['settled', {}],
    ['cancelled', {}],
    ['executed', { instant: false }],
    ['executed', { futureDated: true }],
  ])('a transfer that is %s (%j) does not', async (reached, changes) => {
    const flow = await storeTransfer(operator.open().context, ANNA, reached, changes);
    expect((await forgetAnna()).pseudonymised.flows).toEqual([flow]);
  });

  it.each([
    [5, ''],
    [7, ', and 2 more'],
  ])('of %i payments the first five are named, and the first three can be continued', async (count, more) => {
    const { context } = operator.open();
    for (let number = 1; number <= count; number += 1)
      await storeTransfer(context, ANNA, 'unknown', { reference: String(number) });
    const { message, next } = await refusal();
    const named = [...message.matchAll(/(tr-\S+) \(unknown\)/g)].map(([, flow]) => flow);
    expect(named).toHaveLength(5);
    const payments = named.map((flow) => `${flow} (unknown)`).join(', ');
    expect(message).toBe(`Customer ${ANNA} has unfinished payments: ${payments}${more}`);
    expect(next).toEqual(named.slice(0, 3).map((flow) => ['transfer', 'resume', flow]));
  });

  it('a transfer that the bank has accepted, and may soon reject, keeps its customer; a standing order does not', async () => {
    const { context } = operator.open();
    const standing = { frequency: 'Monthly', end: null, day: null } as const;
    const order = { instant: false, executionDate: parseDate('--date', '2026-11-21') };
    const kept = await storeTransfer(context, ANNA, 'accepted', { ...order, reference: 'a' });
    expect(await refusal()).toMatchObject({
      message: `Customer ${ANNA} has unfinished payments: ${kept} (executed)`,
      next: [['transfer', 'resume', kept]],
    });
    await storeTransfer(context, BRUNO, 'accepted', { ...order, standing, reference: 'b' });
    await operator.run(['customer', 'forget', BRUNO], YES);
  });

  it('an operation counts as a transfer does', async () => {
    const flow = await storeOperation(operator.open().context, { customerId: ANNA });
    expect(await refusal()).toMatchObject({
      message: `Customer ${ANNA} has unfinished payments: ${flow} (created)`,
      next: [['operation', 'resume', flow]],
    });
  });

  it('a flow that another psd2 works on keeps its customer, and no other one', async () => {
    const { context } = operator.open();
    const { flows } = await context.store();
    const flow = await storeTransfer(context, ANNA, 'settled');
    await storeTransfer(context, BRUNO, 'settled', { reference: 'theirs' });
    await flows.resume('transfer', flow, async () => {
      const working = new RegExp(`^Another psd2 is working on ${flow} of customer ${ANNA}: .+`);
      expect(await refusal()).toMatchObject({
        ...{ code: 'config', exitCode: 3, hint: 'Wait for it to end. Nothing was forgotten.' },
        message: expect.stringMatching(working),
      });
      const other = operator.run(['customer', 'forget', BRUNO]);
      expect(await failureOf(other)).toMatchObject({ code: 'confirmation_needed' });
    });
  });

  it('a batch with a line that is not paid keeps the customer of the line', async () => {
    const lines = [`Ada 1,${ACCOUNT},${ANNA}`, `Bob 2,0000099999,${BRUNO}`];
    const batch = await addBatch(operator, csv('from,customer', ...lines));
    expect(await refusal()).toEqual({
      ...{ code: 'config', exitCode: 3 },
      message: `A batch with payments of customer ${ANNA} is not over: ${batch}`,
      hint: 'Nothing was forgotten. First pay the rest of it, or cancel it:',
      next: [
        ['batch', 'status', batch],
        ['batch', 'cancel', batch],
      ],
    });
    await reject(batch);
    const { pseudonymised, pseudonym } = await forgetAnna();
    expect(pseudonymised.batches).toEqual([batch]);
    expect(await linesOf(batch)).toMatchObject([
      { customer: pseudonym, name: 'Ada' },
      { customer: BRUNO, from: '0000099999' },
    ]);
    // Each of the two leaves the batch as they go.
    expect((await forgetting(BRUNO)).pseudonymised.batches).toEqual([batch]);
  });

  it.each([
    ['id', ACCOUNT],
    ['IBAN', OWN_IBAN],
  ])('a line that names no customer is of the one whose account it names by its %s', async (_, account) => {
    const { context } = operator.open();
    await storeTransfer(context, ANNA, 'settled', { fromIban: parseSepaIban(OWN_IBAN) });
    const batch = await addBatch(operator, csv('from', `Ada 1,${account}`, 'Bob 2,0000099999'));
    expect((await refusal()).message).toBe(`A batch with payments of customer ${ANNA} is not over: ${batch}`);
    await reject(batch);
    const document = await operator.json(z.unknown(), ['customer', 'export', ANNA]);
    expect(document).toMatchObject({ batches: [{ lines: [{ name: 'Ada' }] }] });
    expect((await forgetAnna()).pseudonymised.batches).toEqual([batch]);
    expect(JSON.stringify(await linesOf(batch))).not.toContain(account);
  });

  it('a batch keeps its customer as long as one of its lines is not over, and no longer', async () => {
    const { context } = operator.open();
    const lines = [`Ada 1,${ACCOUNT},${ANNA}`, `Bob 2,${ACCOUNT},${ANNA}`];
    const batch = await addBatch(operator, csv('from,customer', ...lines));
    const { batches } = await context.store();
    const flow = await storeTransfer(context, ANNA, 'settled');
    await batches.change(batch, () => ({ type: 'line-begun', line: 1, flow }));
    expect((await refusal()).message).toBe(`A batch with payments of customer ${ANNA} is not over: ${batch}`);
    await batches.change(batch, () => ({ type: 'line-refused', line: 2, reason: 'No' }));
    expect((await forgetAnna()).pseudonymised).toMatchObject({ flows: [flow], batches: [batch] });
  });

  it.each<[Reached, Parameters<typeof storeTransfer>[3], boolean]>([
    ['settled', {}, false],
    ['executed', { instant: false }, false],
    // The bank does not say afterwards that it has paid.
    ['executed', { instant: false, futureDated: true }, false],
    ['accepted', { instant: false, executionDate: parseDate('--date', '2026-01-02') }, false],
    ['failed', {}, true],
    ['unknown', {}, true],
  ])('a batch whose only payment is %s (%j) keeps its customer: %s', async (reached, changes, keeps) => {
    const { context } = operator.open();
    const batch = await addBatch(operator, csv('from,customer', `Ada 1,${ACCOUNT},${ANNA}`));
    // The transfer of somebody else, so that the batch alone can keep this customer.
    const flow = await storeTransfer(context, BRUNO, reached, changes);
    const { batches } = await context.store();
    await batches.change(batch, () => ({ type: 'line-begun', line: 1, flow }));
    const message = `A batch with payments of customer ${ANNA} is not over: ${batch}`;
    if (keeps) expect(await refusal()).toMatchObject({ message });
    else expect((await forgetAnna()).pseudonymised.batches).toEqual([batch]);
  });

  it('a batch that somebody has changed keeps every customer, unless --leave-damaged says otherwise', async () => {
    await storeLogin(operator.open().context, ANNA);
    const batch = await addBatch(operator, csv('from', 'Ada 1,0000099999'));
    const damage = changeBatch(operator, batch);
    expect(await refusal()).toEqual({
      ...{ code: 'config', exitCode: 3 },
      message: `psd2 cannot tell whether a batch has payments of customer ${ANNA}. ${damage}`,
      hint: 'Nothing was forgotten. Restore the batch from a backup. If you have none, add --leave-damaged to forget all else: the proof then names the batch.',
    });
    expect(await isLoggedIn(ANNA)).toBe(true);
    expect(await forgetAnna('--leave-damaged', '--no-revoke')).toMatchObject({
      damagedBatches: [batch],
      pseudonymised: { batches: [] },
    });
    expect(await isLoggedIn(ANNA)).toBe(false);
  });
});

it('without the key of the profile nothing ends, and nothing says that the customer was forgotten', async () => {
  const env = { PSD2_CONFIG_PASSPHRASE: 'secret' };
  await storeLogin(operator.open({ env }).context, ANNA);
  await operator.run(['profile', 'protect', 'env', '--passphrase'], { env });
  expect(await refusal()).toMatchObject({ message: 'The profile env is protected by a passphrase' });
  const audit = await operator.json(z.array(z.object({ action: z.string() })), ['audit']);
  expect(audit.map(({ action }) => action)).toEqual(['profile-changed']);
  expect(await isLoggedIn(ANNA)).toBe(true);
  expect((await forgetAnna('--no-revoke')).removed).toContainEqual({ name: 'tokens', count: 1 });
});

describe('what is forgotten', () => {
  it('everything goes but the journals, and the proof counts it', async () => {
    const { context } = operator.open();
    await storeLogin(context, BRUNO);
    await storeLogin(context, ANNA);
    const flow = await storeTransfer(context, ANNA, 'settled', { description: 'Rent', reference: 'r-1' });
    const other = await storeTransfer(context, BRUNO, 'settled', { reference: 'r-2' });
    const { flows: before, tokens } = await context.store();
    // A payment may have tokens of its own.
    const holder = paymentHolder((await before.find('transfer', flow)).transactionId);
    const none = { refreshToken: null, accessTokenExpiresAt: null, refreshTokenExpiresAt: null, scope: null };
    await tokens.change(holder, (slot) => slot.write({ accessToken: 'p1', ...none }));
    logCall(context, { path: `/private/customers/${ANNA}`, transactionId: 'one' });
    logCall(context, { path: `/private/customers/${BRUNO}`, transactionId: 'two' });
    const out = join(operator.folder.root, 'out');
    mkdirSync(join(out, ANNA), { recursive: true });
    writeFileSync(join(out, ANNA, 'accounts.ndjson'), '{}\n');

    const { printed, said } = await operator.run(
      ['customer', 'forget', ANNA, '--no-revoke', '--sync-folder', out],
      YES,
    );
    const found = proof.parse(JSON.parse(printed()));
    expect(found).toEqual({
      ...{ profile: 'env', customerId: ANNA, forgottenAt: context.world.now().toISOString() },
      pseudonym: expect.stringMatching(/^pseudonym-[0-9a-f]{16}$/),
      atBank: { tokens: [], consents: [], refused: [] },
      removed: ['log of calls', out, 'tokens', 'last-login'].map((name) => ({ name, count: 1 })),
      damagedBatches: [],
      pseudonymised: { flows: [flow], batches: [], auditLines: 4 },
      elsewhere: ELSEWHERE,
    });
    expect(said()).toBe('');
    expect(existsSync(join(out, ANNA))).toBe(false);
    expect([...readCalls(operator.folder.log)].map(({ transactionId }) => transactionId)).toEqual(['two']);
    expect([await isLoggedIn(ANNA), await isLoggedIn(BRUNO)]).toEqual([false, true]);
    expect(await tokens.last()).toBeUndefined();

    const { flows, tokens: left } = await operator.open().context.store();
    expect(await left.login(holder)).toBeUndefined();
    const { order } = await flows.find('transfer', flow);
    expect(order).toMatchObject({ customerId: found.pseudonym, description: '', reference: 'r-1' });
    expect(order.from).toMatch(/^pseudonym-[0-9a-f]{16}$/);
    expect((await flows.find('transfer', other)).order).toMatchObject({ customerId: BRUNO, from: ACCOUNT });
    const document = await operator.json(z.unknown(), ['customer', 'export', ANNA]);
    expect(document).toMatchObject({ flows: [], audit: [] });
    expect(await forgetAnna()).toMatchObject({ pseudonym: null, removed: [], pseudonymised: { flows: [] } });
  });

  it('the count of refused PINs goes with the PSU-ID that it is kept by, and that of another person stays', async () => {
    const { context } = operator.open();
    await storeLogin(context, ANNA);
    const { customers, pins } = await context.store();
    await customers.change(ANNA, (before) => ({ ...before, psu: { ...before.psu, id: 'anna-7' } }));
    for (const psuId of ['anna-7', 'bruno-8']) await (await pins()).add(psuId, 0);
    await forgetAnna('--no-revoke');
    const after = await pins();
    expect([await after.count('anna-7'), await after.count('bruno-8')]).toEqual([0, 1]);
  });

  it('a login at another base URL is forgotten too, and its tokens are sent to no bank', async () => {
    const elsewhere = operator.open({ env: { PSD2_BASE_URL: 'https://old.example' } }).context;
    await storeLogin(elsewhere, ANNA);
    await storeLogin(elsewhere, BRUNO);
    const { atBank, removed } = await forgetAnna();
    expect(atBank).toEqual({ tokens: [], consents: [], refused: [] });
    expect(removed).toEqual([{ name: 'tokens', count: 1 }]);
    expect([...readCalls(operator.folder.log)]).toEqual([]);
    const { tokens } = await elsewhere.store();
    expect((await tokens.logins()).map(({ customerId }) => customerId)).toEqual([BRUNO]);
  });

  it('the bank revokes both tokens, and a person reads what ended and what stays', async () => {
    await operator.logIn('anna');
    const { printed } = await operator.run(['customer', 'forget', ANNA], { ...YES, format: 'table' });
    expect(cellsIn(printed())).toEqual([
      ['Customer', ANNA],
      ['Pseudonym', expect.stringMatching(/^pseudonym-[0-9a-f]{16}$/)],
      ['Tokens revoked', 'refresh_token, access_token'],
      ['Consents ended', ''],
      ['Removed', 'tokens (1), last-login (1)'],
      ['Journals kept', '0'],
      ['Batches kept', '0'],
      ['Batches not read', ''],
      ['Audit lines kept', '1'],
      ['Not reached', ELSEWHERE.join('; ')],
    ]);
  });

  it('tokens that the bank refuses to revoke are forgotten, and the proof has what the bank said', async () => {
    await operator.logIn('anna');
    const env = { PSD2_CLIENT_SECRET: 'wrong' };
    const { printed, said } = await operator.run(['customer', 'forget', ANNA], { ...YES, env });
    const { atBank } = proof.parse(JSON.parse(printed()));
    expect(atBank).toEqual({ tokens: [], consents: [], refused: [expect.any(String), expect.any(String)] });
    expect(said()).toContain(`The bank did not end everything: ${atBank.refused.join('; ')}.`);
    expect(await isLoggedIn(ANNA)).toBe(false);
  });

  it('a login without a refresh token has one token to revoke', async () => {
    const { accessToken } = await operator.bank.tpp.login('anna');
    await storeLogin(operator.open().context, ANNA, { accessToken, refreshToken: null });
    expect((await forgetAnna()).atBank).toEqual({ tokens: ['access_token'], consents: [], refused: [] });
  });

  it('a bank that cannot be reached keeps the customer, and --no-revoke does not ask it', async () => {
    await operator.logIn('anna');
    const env = { PSD2_BASE_URL: 'https://127.0.0.1:1' };
    const { context } = operator.open({ env });
    await storeLogin(context, ANNA);
    const words = ['customer', 'forget', ANNA];
    const failure = await failureOf(operator.run(words, { ...YES, env }));
    expect(failure).toMatchObject({ code: 'bank_unreachable', exitCode: 11 });
    expect(await (await operator.open({ env }).context.store()).tokens.login(ANNA)).toBeDefined();
    const forgotten = await operator.json(proof, [...words, '--no-revoke'], { ...YES, env });
    expect(forgotten.atBank.tokens).toEqual([]);
    expect(forgotten.removed).toContainEqual({ name: 'tokens', count: 1 });
  });

  it('what an interrupted run has left is found by the pseudonym, and keeps it; what others have is not', async () => {
    const { context } = operator.open();
    const flow = await storeTransfer(context, ANNA, 'settled');
    const lines = [`Ada 1,0000099999,${ANNA}`, `Bob 2,0000099999,${BRUNO}`];
    const batch = await addBatch(operator, csv('from,customer', ...lines));
    await reject(batch);
    const { personal, batches } = await context.store();
    const account = await personal.pseudonymOf(ANNA, ACCOUNT);
    const pseudonym = await personal.pseudonymOf(ANNA, ANNA);
    await personal.rewriteFlow(flow, (event) =>
      JSON.parse(JSON.stringify(event).replaceAll(ANNA, pseudonym).replaceAll(ACCOUNT, account)),
    );
    await batches.pseudonymise(await batches.find(batch), (line) =>
      line.customer === ANNA ? { ...line, customer: pseudonym } : line,
    );
    const document = await operator.json(z.unknown(), ['customer', 'export', ANNA]);
    expect(document).toMatchObject({ accounts: [ACCOUNT], batches: [{ lines: [{ line: 1 }] }] });
    const found = await forgetAnna();
    expect(found).toMatchObject({ pseudonym, pseudonymised: { flows: [flow], batches: [batch] } });
    const { flows } = await operator.open().context.store();
    const { order } = await flows.find('transfer', flow);
    expect(order).toMatchObject({ customerId: pseudonym, from: account });
  });

  it('a run that was interrupted just before its end has a pseudonym left to forget', async () => {
    const { context } = operator.open();
    const { personal } = await context.store();
    const pseudonym = await personal.pseudonymOf(ANNA, ANNA);
    await personal.pseudonymOf(BRUNO, BRUNO);
    const { printed, said } = await operator.run(['customer', 'forget', ANNA], YES);
    expect(proof.parse(JSON.parse(printed()))).toMatchObject({ pseudonym, removed: [] });
    expect(said()).toBe('');
    const left = await personal.pseudonyms();
    expect(left.map(({ customerId }) => customerId)).toEqual([BRUNO]);
  });

  it('a command that begins while psd2 forgets a customer writes nothing more of them, and a later one may', async () => {
    const { context } = operator.open(YES);
    await storeLogin(context, ANNA);
    const { personal } = await context.store();
    const remove = personal.removeRows.bind(personal);
    vi.spyOn(personal, 'removeRows').mockImplementationOnce((customerId) => {
      operator.open();
      return remove(customerId);
    });
    await runIn(context, 'customer', 'forget', ANNA, '--no-revoke');
    const { forgotten } = operator.folder;
    const areForgotten = () => [ANNA, BRUNO].map((customer) => forgotten.isForgotten('env', customer));
    expect(areForgotten()).toEqual([true, false]);
    operator.open();
    expect(areForgotten()).toEqual([false, false]);
  });

  it('without a login the keys for the bank are not needed', async () => {
    const { context } = operator.open();
    const flow = await storeTransfer(context, ANNA, 'settled');
    const env = { PSD2_QWAC_CERT: join(temporary, 'none.pem') };
    expect(await forgetting(ANNA, { ...YES, env })).toMatchObject({
      ...{ atBank: { tokens: [], consents: [], refused: [] }, pseudonymised: { flows: [flow] } },
    });
  });

  it('a line of a batch that a payment of the customer has paid is theirs, whatever the account', async () => {
    const { context } = operator.open();
    const other = '0000099999';
    const first = await storeTransfer(context, ANNA, 'settled', { reference: '0' });
    const mine = await storeTransfer(context, ANNA, 'settled', { reference: '1' });
    const theirs = await storeTransfer(context, BRUNO, 'settled', { reference: '2' });
    const batch = await addBatch(operator, csv('from', `Ada 1,${other}`, `Bob 2,${ACCOUNT}`));
    const { batches } = await context.store();
    await batches.change(batch, () => ({ type: 'line-begun', line: 1, flow: mine }));
    await batches.change(batch, () => ({ type: 'line-begun', line: 2, flow: theirs }));
    const { flows, batches: theirsToo } = (await forgetAnna()).pseudonymised;
    expect([flows.toSorted(), theirsToo]).toEqual([[first, mine].toSorted(), [batch]]);
    expect(await linesOf(batch)).toMatchObject([{ from: other }, { from: ACCOUNT, name: 'Bob' }]);
  });
});

describe('at a bank that can end a consent', () => {
  beforeEach(() => storeLogin(operator.open().context, ANNA));

  /** A bank that ends consents, except those that it refuses to end. @returns how a command begins there */
  function bankWith(refused: Record<string, Psd2Error> = {}, has: Capability[] = ['consent deletion']) {
    const asked: string[] = [];
    const remove = async (id: string) => {
      asked.push(id);
      if (refused[id]) throw refused[id];
      return { bankStatus: 'terminated' };
    };
    const find = bankWhere({ has: new Set(has) }, ({ consents, login }) => ({
      consents: { ...consents, delete: remove },
      login: { ...login, revoke: async () => false },
    }));
    return { asked, how: { ...YES, find } };
  }

  /** Stores a consent of a customer with this id at the bank. @returns its flow */
  async function consent(
    customerId: string,
    resourceId: string,
    end: 'confirmed' | 'cancelled' | 'revoked' | 'open' | 'created',
  ) {
    const events: ConsentEvent[] = end === 'created' ? [] : [{ type: 'requested', resourceId, outcomes: [] }];
    if (end === 'confirmed' || end === 'cancelled') events.push({ type: end });
    if (end === 'revoked') events.push({ type: 'ended', state: end, bankStatus: end });
    return storeConsentFlow(operator.open().context, { customerId }, ...events);
  }
  const stateOf = async (flow: string) => {
    const { flows } = await operator.open().context.store();
    return (await flows.find('consent', flow)).state;
  };

  it('psd2 ends those that it reads with and those that are open, of this customer alone, with the word of the bank', async () => {
    const flows: string[] = [];
    for (const [customer, id, end] of [
      [ANNA, 'kept', 'confirmed'],
      [ANNA, 'open', 'open'],
      [ANNA, 'over', 'cancelled'],
      [ANNA, 'revoked', 'revoked'],
      [ANNA, 'unread', 'confirmed'],
      [ANNA, 'never requested', 'created'],
      [BRUNO, 'other', 'open'],
    ] as const) {
      const flow = await consent(customer, id, end);
      flows.push(flow);
      if (id === 'kept' || id === 'revoked')
        await keepConsent(operator.open().context, ANNA, flow, { consentId: id });
    }
    const { asked, how } = bankWith();
    const { atBank } = await forgetting(ANNA, how);
    expect(asked.sort()).toEqual(['kept', 'open', 'revoked']);
    expect({ ...atBank, consents: atBank.consents.sort() }).toEqual({
      ...{ tokens: [], consents: ['kept', 'open', 'revoked'], refused: [] },
    });
    const store = await operator.open().context.store();
    const ends = await Promise.all(flows.map((flow) => store.flows.find('consent', flow)));
    // The end of one that was over stays.
    expect(ends.map(({ state, bankStatus }) => `${state} ${bankStatus}`)).toEqual([
      ...['cancelled terminated', 'cancelled terminated', 'cancelled null', 'revoked revoked'],
      ...['confirmed null', 'created null', 'requested null'],
    ]);
  });

  it('a bank that cannot end one is not asked, and a consent that is open there stays so', async () => {
    const open = await consent(ANNA, 'open', 'open');
    await keepConsent(operator.open().context, ANNA, open, { consentId: 'open' });
    const { atBank } = await forgetAnna('--no-revoke');
    expect([atBank.consents, await stateOf(open)]).toEqual([[], 'requested']);
    await storeLogin(operator.open().context, ANNA, { refreshToken: null });
    const second = await consent(ANNA, 'second', 'open');
    const found = await forgetting(ANNA, bankWith({}, []).how);
    expect([found.atBank.consents, await stateOf(second)]).toEqual([[], 'requested']);
  });

  it('a person reads which consents ended, and which batches could not be read', async () => {
    for (const id of ['first', 'second']) await consent(ANNA, id, 'open');
    const batches: string[] = [];
    for (const amount of [1, 2]) {
      const batch = await addBatch(operator, csv('from', `Ada ${amount},0000099999`));
      changeBatch(operator, batch);
      batches.push(batch);
    }
    const { how } = bankWith();
    const words = ['customer', 'forget', ANNA, '--leave-damaged'];
    const { printed } = await operator.run(words, { ...how, format: 'table' });
    const named = (title: string) =>
      new RegExp(`^${title}\t(.*)$`, 'm').exec(printed())?.[1]?.split(', ').sort();
    expect(named('Consents ended')).toEqual(['first', 'second']);
    expect(named('Batches not read')).toEqual(batches.sort());
  });

  it('psd2 ends a consent for confirmations of funds, too, as long as it is kept', async () => {
    const { context } = operator.open();
    const [kept, former] = [
      await consent(ANNA, 'funds', 'confirmed'),
      await consent(ANNA, 'former', 'confirmed'),
    ];
    const funds = {
      ...{ flow: kept, consentId: 'funds', validUntil: null, grantedAt: '2026-11-01T00:00:00.000Z' },
      ...{ transactionId: 'a', account: 'IT89F0999001600000010482620' },
    };
    await (await context.store()).customers.change(ANNA, (before) => ({ ...before, funds: [funds] }));
    const { asked, how } = bankWith();
    expect((await forgetting(ANNA, how)).atBank.consents).toEqual(['funds']);
    expect([asked, await stateOf(kept), await stateOf(former)]).toEqual([
      ...[['funds'], 'cancelled', 'confirmed'],
    ]);
  });

  it.each(['bank_refused', 'forbidden', 'not_logged_in', 'still_open', 'outcome_unknown'] as const)(
    'a refusal (%s) does not keep the customer, and the next consent is ended all the same',
    async (code) => {
      await consent(ANNA, 'first', 'open');
      for (const id of ['second', 'third']) await consent(ANNA, id, 'open');
      const refused = new Psd2Error(code, 'No such consent');
      const { how } = bankWith({ second: refused, third: refused });
      const { printed, said } = await operator.run(['customer', 'forget', ANNA], how);
      const { atBank } = proof.parse(JSON.parse(printed()));
      const both = ['No such consent', 'No such consent'];
      expect(atBank).toEqual({ tokens: [], consents: ['first'], refused: both });
      expect(said()).toContain('The bank did not end everything: No such consent; No such consent.');
    },
  );

  it('a consent that the bank does not know does not keep the customer, and the proof says that it may be in force', async () => {
    await consent(ANNA, 'first', 'open');
    const context = { refusal: 'other', isBanks: true, isNotKnown: true } as const;
    const { how } = bankWith({ first: new Psd2Error('not_logged_in', 'Unknown', context) });
    const { atBank } = await forgetting(ANNA, how);
    const says =
      /^The bank does not know the consent co-\S+ with this certificate.*it may be in force\. Unknown$/;
    expect(atBank).toEqual({ tokens: [], consents: [], refused: [expect.stringMatching(says)] });
  });

  it('what is nobody’s word keeps the customer: nobody could end the consent later', async () => {
    await consent(ANNA, 'first', 'open');
    const page = new Psd2Error('forbidden', 'A page', { refusal: 'other' });
    expect(await failureOf(forgetting(ANNA, bankWith({ first: page }).how))).toMatchObject({ exitCode: 5 });
    expect((await forgetting(ANNA, bankWith().how)).atBank.consents).toEqual(['first']);
  });

  it('any other error keeps the customer, and the next run ends what is left', async () => {
    await consent(ANNA, 'first', 'open');
    await consent(ANNA, 'second', 'open');
    const { how } = bankWith({ first: new Psd2Error('bank_failing', 'The bank is failing') });
    expect(await failureOf(forgetting(ANNA, how))).toMatchObject({ exitCode: 11 });
    const again = bankWith();
    expect((await forgetting(ANNA, again.how)).atBank.consents).toEqual(['first']);
    expect(again.asked).toEqual(['first']);
  });
});

describe('psd2 customer export', () => {
  const SYNCED = '0010482620';

  const exported = z.looseObject({
    logins: z.array(z.unknown()),
    accounts: z.array(z.string()),
    flows: z.array(z.looseObject({ flow: z.string(), kind: z.string(), events: z.array(z.unknown()) })),
    batches: z.array(z.looseObject({ batch: z.string(), lines: z.array(z.looseObject({ line: z.int() })) })),
    audit: z.array(
      z.looseObject({ action: z.string(), customerId: z.string(), about: z.nullable(z.string()) }),
    ),
    rows: z.array(z.looseObject({ name: z.string() })),
    folders: z.array(z.unknown()),
    calls: z.array(z.looseObject({ transactionId: z.string() })),
  });
  const exportOf = (customer: string, ...more: string[]) =>
    operator.json(exported, ['customer', 'export', customer, ...more]);

  /** A folder of `psd2 sync --out` with a file about a customer, with two lines and one that a crash has cut short. */
  function syncedFolder(customer: string, account: string): string {
    const folder = join(operator.folder.root, `out-${account}`);
    mkdirSync(join(folder, customer), { recursive: true });
    writeFileSync(join(folder, customer, 'accounts.ndjson'), `{"productId":"${account}"}\n{"a":1}\n{"a"`);
    return folder;
  }
  const synced = (folder: string, account: string) => ({
    folder,
    files: [{ name: `${ANNA}/accounts.ndjson`, rows: [{ productId: account }, { a: 1 }] }],
  });

  it('a customer about whom nothing is stored has an empty document, a warning, and no line in the audit log', async () => {
    const { printed, said, context } = await operator.run(['customer', 'export', ANNA]);
    expect(JSON.parse(printed())).toEqual({
      ...{ format: 'psd2-customer', version: 1, profile: 'env', customerId: ANNA, store: 'files' },
      exportedAt: context.world.now().toISOString(),
      ...{ logins: [], accounts: [], flows: [], batches: [], damagedBatches: [], audit: [] },
      ...{ rows: [], folders: [], calls: [] },
    });
    expect(said()).toContain(`psd2 has nothing stored about customer ${ANNA} of env.`);
    expect((await exportOf(ANNA)).audit).toEqual([]);
  });

  it('the document has what belongs to the customer, from each place, and nothing of another one', async () => {
    const { context } = operator.open();
    await storeLogin(context, ANNA, { accessTokenExpiresAt: '2026-12-01T00:00:00.000Z', scope: 'all' });
    await storeLogin(context, BRUNO);
    const mine = await storeTransfer(context, ANNA, 'settled', { reference: 'mine' });
    await storeTransfer(context, BRUNO, 'settled', { reference: 'theirs' });
    await storeConsent(context, ANNA, [{ name: 'ACCOUNT_INFO', products: [] }]);
    const { printed } = await operator.run(['customer', 'export', ANNA]);
    const document: unknown = JSON.parse(printed());
    const found = exported.parse(document);
    const baseUrl = new URL(operator.bank.sandbox.baseUrl).href;
    const ends = { accessTokenExpiresAt: '2026-12-01T00:00:00.000Z', refreshTokenExpiresAt: null };
    expect(found.logins).toEqual([{ baseUrl, ...ends, scope: 'all' }]);
    expect(found.flows.map(({ kind, events }) => [kind, events.length])).toEqual([
      ['transfer', 7],
      ['consent', 3],
    ]);
    expect(found.flows[0]?.flow).toBe(mine);
    expect(printed()).not.toContain(BRUNO);
    expect(exportCustomer.prints?.shape.is(document)).toBe(true);
  });

  it('the document has no link of the bank, nor what it says for a PIN or TAN', async () => {
    const { context } = operator.open();
    const step = {
      next: 'code',
      link: '/a1?s=1',
      challenge: { image: 'iVBO', information: 'Compare' },
    } as const;
    const links = { approach: 'embedded', id: 'a1', step } as const;
    await storeConsentFlow(
      context,
      { customerId: ANNA },
      { type: 'requested', resourceId: 'c1', outcomes: [], links },
    );
    const { flows } = await exportOf(ANNA);
    expect(flows).toHaveLength(1);
    expect(JSON.stringify(flows)).not.toMatch(/iVBO|Compare|s=1|links/);
  });

  it('the export itself is in the audit log, and the next document has it', async () => {
    await storeLogin(operator.open().context, ANNA);
    await exportOf(ANNA);
    await storeLogin(operator.open().context, BRUNO);
    await exportOf(BRUNO);
    expect((await exportOf(ANNA)).audit).toMatchObject([
      { action: 'exported', customerId: ANNA, about: 'customer' },
    ]);
  });

  it('the folders of earlier syncs are found by themselves, others with --sync-folder, and each once', async () => {
    const { folder } = operator;
    const { name } = operator.open().context.profile();
    const [first, second] = [syncedFolder(ANNA, SYNCED), syncedFolder(ANNA, '0000000002')];
    const empty = syncedFolder(BRUNO, '0000000003');
    await rememberSyncFolder(folder, name, first);
    await rememberSyncFolder(folder, name, empty);
    expect((await exportOf(ANNA)).folders).toEqual([synced(first, SYNCED)]);
    const all = await exportOf(ANNA, '--sync-folder', second, '--sync-folder', first, '--sync-folder', empty);
    expect(all.folders).toEqual([synced(first, SYNCED), synced(second, '0000000002')]);
    expect(all.accounts).toEqual([SYNCED, '0000000002']);
  });

  it.each(['export', 'forget'])(
    '%s refuses a folder that is not there, before it does anything',
    async (verb) => {
      const words = ['customer', verb, ANNA, '--sync-folder', join(operator.folder.root, 'none')];
      expect(await failureOf(operator.run(words, YES))).toEqual({
        ...{ code: 'usage', exitCode: 2, hint: 'Give the folder of psd2 sync --out.' },
        message: `--sync-folder names ${join(operator.folder.root, 'none')}, which does not exist`,
      });
    },
  );

  it('the lines of a batch that pay for the customer are found by the customer, the transfer and the account', async () => {
    const { context } = operator.open();
    await storeTransfer(context, ANNA, 'settled');
    const other = '0000099999';
    const named = await addBatch(
      operator,
      csv('from,customer', `Ada 1,${other},${ANNA}`, `Bob 2,${ACCOUNT},${BRUNO}`),
    );
    const byAccount = await addBatch(
      operator,
      csv('from', `Ada 1,${other}`, `Bob 2,${ACCOUNT}`, `Cid 3,${ACCOUNT}`),
    );
    await addBatch(operator, csv('from', `Ada 1,${other}`));
    const { batches } = await exportOf(ANNA);
    const lines = Object.fromEntries(batches.map((each) => [each.batch, each.lines.map(({ line }) => line)]));
    // Not one of the batch that pays for others.
    expect(lines).toEqual({ [named]: [1], [byAccount]: [2, 3] });
  });

  it.each<[string, boolean, Parameters<typeof logCall>[1]]>([
    ['names the customer in its path', true, { path: `/private/customers/${ANNA}/products` }],
    ['names the customer in its path, encoded', true, { path: '/private/customers/%31048262' }],
    ['names an account of theirs', true, { path: '/private/products/0000012345/balance' }],
    ['is recorded for the customer', true, { customer: ANNA }],
    ['only contains the id in a longer part', false, { path: `/private/customers/9${ANNA}` }],
    ['has a path that cannot be decoded', false, { path: '/private/%E0%A4%A' }],
    ['is recorded for another one', false, { customer: BRUNO }],
    ['is one of another profile', false, { path: `/private/customers/${ANNA}`, profile: 'other' }],
  ])('of the calls in the log, one that %s: %s', async (_, isTheirs, call) => {
    const { context } = operator.open();
    await storeTransfer(context, ANNA, 'settled');
    logCall(context, { ...call, transactionId: 'one' });
    expect((await exportOf(ANNA)).calls.length).toBe(isTheirs ? 1 : 0);
  });

  it('with a call of the customer come those of the same transaction and of their payments, the newest first', async () => {
    const { context } = operator.open();
    const flow = await storeTransfer(context, ANNA, 'settled');
    logCall(context, { path: '/auth/oauth/v2/token', transactionId: 'login', tppRequestId: '1' });
    logCall(context, { path: `/private/customers/${ANNA}`, transactionId: 'login', tppRequestId: '2' });
    logCall(context, { path: '/private/status', transactionId: 'payment', flow, tppRequestId: '3' });
    const others = { transactionId: 'another', flow: 'tr-other', tppRequestId: '4' };
    logCall(context, { path: '/private/status', ...others });
    logCall(context, { path: '/private', profile: 'other', transactionId: 'login', tppRequestId: '5' });
    // What another profile has done for the customer makes no other call theirs.
    logCall(context, { path: `/private/customers/${ANNA}`, profile: 'other', transactionId: 'shared' });
    logCall(context, { path: '/private', transactionId: 'shared', tppRequestId: '6' });
    expect((await exportOf(ANNA)).calls.map(({ tppRequestId }) => tppRequestId)).toEqual(['3', '2', '1']);
  });

  it('--file saves the document for its owner alone, and prints how much is in it', async () => {
    const { context } = operator.open();
    await storeTransfer(context, ANNA, 'settled');
    await storeLogin(context, ANNA);
    const out = syncedFolder(ANNA, SYNCED);
    const file = join(operator.folder.root, 'anna.json');
    const saved = await operator.run(['customer', 'export', ANNA, '--file', file, '--sync-folder', out]);
    const text = readFileSync(file, 'utf8');
    // Two lines of the sync, and who logged in last.
    const counts = { file, bytes: Buffer.byteLength(text), flows: 1, rows: 3 };
    expect(JSON.parse(saved.printed())).toEqual(counts);
    expect(exportCustomer.printsWith?.['--file']?.shape.is(counts)).toBe(true);
    expect(saved.said()).toContain(`Saved ${counts.bytes} bytes to ${file}`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(text.endsWith('}\n')).toBe(true);
    expect(text.split('\n')[1]).toBe('  "format": "psd2-customer",');
    expect(exported.parse(JSON.parse(text)).folders).toHaveLength(1);

    const again = await failureOf(operator.run(['customer', 'export', ANNA, '--file', file]));
    expect(again).toEqual({
      ...{ code: 'usage', exitCode: 2, message: `${file} already exists` },
      hint: 'Name a new file with --file, or remove this one first.',
    });
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it.each([
    [1, ''],
    [2, ' 1 more is damaged.'],
    [3, ' 2 more are damaged.'],
  ])('with %i damaged batches the document is whole but for them, and it fails', async (count, more) => {
    await storeLogin(operator.open().context, ANNA);
    const damages = new Map<string, string>();
    for (const amount of [1, 2, 3].slice(0, count)) {
      const batch = await addBatch(operator, csv('from', `Ada ${amount},${SYNCED}`));
      damages.set(batch, changeBatch(operator, batch));
    }
    const command = operator.open();
    const failure = await failureOf(runIn(command.context, 'customer', 'export', ANNA));
    const document: unknown = JSON.parse(command.printed());
    const { damagedBatches } = z.object({ damagedBatches: z.array(z.string()) }).parse(document);
    expect([...damagedBatches].sort()).toEqual([...damages.keys()].sort());
    expect(failure).toEqual({
      ...{ code: 'needs_attention', exitCode: 12 },
      message: `The document may lack payments of customer ${ANNA}. ${damages.get(damagedBatches[0] ?? '')}.${more}`,
      hint: 'It has all else. Restore the batch from a backup, and export again.',
    });
  });
});
