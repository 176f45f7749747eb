import { expect, it } from 'vitest';
import { CONSENTS } from '../../../src/commands/consent/consents.ts';
import { applyConsentEvent, type Consent, type ConsentEvent } from '../../../src/domain/consent.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { storeConsentFlow } from '../access.ts';
import { OWN_ACCOUNT } from '../bank-here.ts';
import { openCommand, runIn } from '../command.ts';
import { ANNA, endOf, NOW, payerAt } from '../payer-here.ts';
import { GrantingBank, refused } from './granting-bank.ts';

// Consents at a bank with categories, where psd2 confirms what the customer has authorised.

const temporary = temporaryFolder();
const BOTH = ['--category', 'ACCOUNT_INFO', '--category', 'PAYMENTS', '--account', OWN_ACCOUNT];
const REQUEST = ['consent', 'request', ...BOTH];
const PARTLY = [
  { name: 'ACCOUNT_INFO', outcome: true },
  { name: 'PAYMENTS', outcome: false },
];

async function operatorAt() {
  const bank = new GrantingBank({ confirms: true });
  return { bank, ...(await payerAt(bank, temporary)) };
}

it('categories that the bank does not grant are an error that names them', async () => {
  const { bank, run } = await operatorAt();
  const outcomes = [{ name: 'FUNDS_AVAILABILITY', outcome: false }, ...PARTLY];
  bank.answers = { outcomes };
  const ran = await run([...REQUEST, '--category', 'FUNDS_AVAILABILITY']);
  // The others are confirmed, and printed.
  expect(ran.data).toMatchObject({ state: 'confirmed', categories: [...PARTLY, outcomes[0]] });
  expect(endOf(ran)).toEqual([
    'exit 7, bank_refused: The bank did not grant PAYMENTS, FUNDS_AVAILABILITY',
    'The other categories are confirmed. With --allow-partial, this counts as success.',
    'transactionId: "an-id"',
  ]);
});

it('a person reads what the consent allows next', async () => {
  const { bank, run } = await operatorAt();
  const person = { format: 'table', changes: () => ({ isForPerson: true }) } as const;
  const next = async (...words: string[]) => {
    const { said } = await run([...REQUEST, ...words], person);
    return said.split('\n').flatMap((line, at, lines) => (at > lines.indexOf('Next:') ? [line.trim()] : []));
  };
  const read = ['psd2 accounts list', `psd2 accounts balance ${OWN_ACCOUNT}`];
  bank.answers = { outcomes: PARTLY };
  expect(await next('--allow-partial')).toEqual([...read, '']);
  bank.answers = { outcomes: PARTLY.map((each) => ({ ...each, outcome: true })) };
  expect(await next()).toEqual([...read, 'psd2 transfer', '']);
  expect((await run(REQUEST)).said).not.toContain('Next:');
});

it.each<[string, Partial<Consent>, isUnknown: boolean]>([
  ['waits for its customer', { state: 'authorizing' }, false],
  ['was about to be confirmed', { state: 'confirming' }, true],
  ['is unknown', { state: 'unknown' }, true],
  ['is confirmed', { state: 'confirmed' }, false],
  ['has failed for sure', { state: 'failed' }, false],
  ['has failed by one refusal alone', { state: 'failed', refusedUnconfirmed: true }, true],
])('a person may say what became of a consent that %s, or not', (_, changes, isUnknown) => {
  const created: ConsentEvent = {
    ...{ type: 'created', flow: 'co-1', transactionId: 't', customerId: ANNA, categories: [] },
  };
  expect(CONSENTS.isUnknown({ ...applyConsentEvent(undefined, created, NOW), ...changes })).toBe(isUnknown);
});

it('resume confirms what the customer has authorised meanwhile, and takes --allow-partial too', async () => {
  const { bank, run } = await operatorAt();
  bank.customersDecide = false;
  bank.answers = { outcomes: PARTLY };
  const late = await run(REQUEST, { globals: { scaTimeout: '1' } });
  expect(late.failure).toMatchObject({ code: 'authorisation_timeout', flow: 'co-1' });
  bank.says('c1', { consentStatus: 'AUTHORIZED', means: 'valid' });
  bank.asked.length = 0;
  const resume = ['consent', 'resume', 'co-1'];
  expect((await run(resume)).failure?.message).toBe('The bank did not grant PAYMENTS');
  expect(bank.asked).toEqual(['status c1', 'confirm c1']);
  expect(endOf(await run([...resume, '--allow-partial']))).toEqual(['done']);
  expect(endOf(await run([...resume, '--paste']))).toEqual([
    'exit 2, usage: The interface of this bank, here, has no --paste',
    'It is for banks whose links lead the customer.',
  ]);
});

it("psd2 acts for the consent's customer, whoever logged in last, and only with the customer's grant", async () => {
  const { open, logIn, run } = await operatorAt();
  await logIn('1000002');
  const sent = { requestId: 'a-request', digest: null };
  const flow = await storeConsentFlow(
    open().context,
    { categories: [{ name: 'ACCOUNT_INFO', products: [] }] },
    { type: 'request-sent', ...sent },
    { type: 'requested', resourceId: 'r', outcomes: [{ name: 'ACCOUNT_INFO', outcome: true }] },
    { type: 'confirm-sent', ...sent },
  );
  expect((await run(['consent', 'resume', flow])).failure).toMatchObject({
    ...{ code: 'not_logged_in', message: 'The customer 1000001 is not logged in with the profile "env"' },
  });
  const how = { globals: { grant: 'client_credentials' as const } };
  for (const words of [REQUEST, ['consent', 'resume', flow]])
    expect(endOf(await run(words, how))).toEqual([
      'exit 2, usage: This needs the customer, so it needs the grant authorization_code',
      'Leave out --grant client_credentials.',
    ]);
});

it('a confirmed consent ends the refusal of a call, and may be shown again with any grant', async () => {
  const { open, run } = await operatorAt();
  const { notes } = await open().context.store();
  await notes.callRefused(ANNA, { at: NOW, message: 'No consent' });
  await run(REQUEST);
  expect(await notes.hasRefusedCall(ANNA)).toBe(false);
  const how = { globals: { grant: 'client_credentials' as const, customer: ANNA } };
  expect((await run(['consent', 'resume', 'co-1'], how)).failure).toBeNull();
});

const BY_PRODUCT = [['--product', OWN_ACCOUNT], ['--all-products']];
it('--all-accounts asks for each account, and an account may be called a product, as it was until 0.2', async () => {
  const { bank, run } = await operatorAt();
  const request = (words: string[]) => run(['consent', 'request', '--category', 'ACCOUNT_INFO', ...words]);
  for (const words of [...BY_PRODUCT, ['--all-accounts']])
    expect((await request(words)).data.categories).toEqual([
      { name: 'ACCOUNT_INFO', products: [OWN_ACCOUNT], outcome: true },
    ]);
  bank.closeAccounts();
  bank.asked.length = 0;
  expect(endOf(await request(['--all-accounts']))).toEqual([
    'exit 2, usage: The customer has no accounts to give consent for',
  ]);
  expect(bank.asked).toEqual([]);
});

it('a category and an account that are named twice are asked for once', async () => {
  const { bank, run } = await operatorAt();
  const twice = ['--category', 'ACCOUNT_INFO', '--account', '0000012346', '--account', OWN_ACCOUNT];
  const { data } = await run([...REQUEST, ...twice]);
  expect(bank.asked[0]).toBe(`request ${ANNA}: ACCOUNT_INFO PAYMENTS`);
  const products = [OWN_ACCOUNT, '0000012346'];
  expect(data.categories).toMatchObject([
    { name: 'ACCOUNT_INFO', products },
    { name: 'PAYMENTS', products },
  ]);
});

it('psd2 consent cancel shows what it gives up, and asks', async () => {
  const { bank, run } = await operatorAt();
  bank.customersDecide = false;
  await run(REQUEST, { globals: { scaTimeout: '1' } });
  const no = await run(['consent', 'cancel', 'co-1'], { answers: [false] });
  expect([no.asked, endOf(no)]).toEqual([
    ['Cancel the consent for good?'],
    ['exit 2, cancelled: The consent co-1 is unchanged'],
  ]);
  expect((await run(['consent', 'cancel', 'co-1'])).said).toMatchInlineSnapshot(`
    "The consent co-1 is authorizing:
      ACCOUNT_INFO       0000012345
      PAYMENTS           0000012345
      Begun              NOW
      Last change        NOW
    The customer can still answer at the bank, but it has no effect: psd2 will not send confirm.
    "
  `);
});

it.each([
  ['open', null],
  ['valid', 'usage'],
] as const)('a refused confirm: a consent that is %s is cancelled only while open', async (means, code) => {
  const { bank, run } = await operatorAt();
  const early = { refusal: 'content', isBanks: true, httpStatus: 400 } as const;
  bank.fails.set('confirm', new Psd2Error('bank_refused', 'Too early', early));
  expect((await run(REQUEST)).failure?.code).toBe('bank_refused');
  bank.says('c1', { means });
  expect((await run(['consent', 'cancel', 'co-1'])).failure?.code ?? null).toBe(code);
  expect((await run(['consent', 'show', 'co-1'])).data.state).toBe(code === null ? 'cancelled' : 'failed');
});

it('a person resolves only a consent whose outcome is unknown', async () => {
  const { bank, run } = await operatorAt();
  await run(REQUEST);
  bank.customersDecide = false;
  await run(REQUEST, { globals: { scaTimeout: '1' } });
  const resolved = async (flow: string) => endOf(await run(['consent', 'resolve', flow, '--executed']));
  const known = (flow: string, state: string) =>
    `exit 2, usage of ${flow}: The consent ${flow} is ${state}, so its outcome is not unknown`;
  expect(await resolved('co-1')).toEqual([
    ...[known('co-1', 'confirmed'), 'See it with:', '$ consent show co-1', 'transactionId: "an-id"'],
  ]);
  expect(await resolved('co-2')).toEqual([
    ...[known('co-2', 'authorizing'), 'Continue with:', '$ consent resume co-2', 'transactionId: "an-id"'],
  ]);
});

it('of several that are unfinished, psd2 consent resume offers each with its categories', async () => {
  const { bank, run, leaveBehind } = await operatorAt();
  bank.customersDecide = false;
  for (const words of [REQUEST, ['consent', 'request', '--category', 'PAYMENTS', '--account', OWN_ACCOUNT]])
    await run(words, { globals: { scaTimeout: '1' } });
  leaveBehind();
  bank.fails.set('status', refused('No'));
  const { asked } = await run(['consent', 'resume'], { answers: ['co'] });
  expect(asked).toMatchInlineSnapshot(`
    ["Which consent do you want to continue?",
     "- co-2  PAYMENTS, authorizing, begun NOW (co-2  PAYMENTS, authorizing, begun NOW)",
     "- co-1  ACCOUNT_INFO, PAYMENTS, authorizing, begun NOW (co-1  ACCOUNT_INFO, PAYMENTS, authorizing, begun NOW)"]
  `);
});

it('the list on a terminal has titles, and a narrow one leaves out what matters least', async () => {
  const { folder, run } = await operatorAt();
  await run(REQUEST);
  const list = async (columns: number) => {
    const env = { PSD2_BASE_URL: 'https://bank.example' };
    const { context, printed } = openCommand(folder, NOW, { format: 'table', columns, env });
    await runIn(context, 'consent', 'list');
    const named = printed().replace(/co-\w{14}/, 'co-a-consent-long');
    return named.replace(/\d{4}-\d\d-\d\d \d\d:\d\d\S*/, 'YYYY-MM-DD hh:mm');
  };
  expect([await list(140), await list(70), await list(40)]).toMatchInlineSnapshot(`
    ["FLOW               STATE      CATEGORIES              PRODUCTS    GRANTED           DAYS LEFT  CUSTOMER
    co-a-consent-long  confirmed  ACCOUNT_INFO, PAYMENTS  0000012345  YYYY-MM-DD hh:mm        180  1048262
    ",
     "FLOW               STATE      CATEGORIES              DAYS LEFT
    co-a-consent-long  confirmed  ACCOUNT_INFO, PAYMENTS        180
    ",
     "FLOW        co-a-consent-long
    STATE       confirmed
    CATEGORIES  ACCOUNT_INFO, PAYMENTS
    PRODUCTS    0000012345
    GRANTED     YYYY-MM-DD hh:mm
    DAYS LEFT   180
    CUSTOMER    1048262
    "]
  `);
});
