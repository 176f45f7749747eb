import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { keepPsu } from '../../../src/commands/shared/psu.ts';
import type { BatchEvent } from '../../../src/domain/batch/batch.ts';
import { paymentHolder } from '../../../src/domain/identifiers.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { storeLogin } from '../access.ts';
import { BankHere, initiationOf, OWN_ACCOUNT, OWN_IBAN } from '../bank-here.ts';
import { ANNA, endOf } from '../payer-here.ts';
import {
  beginLine,
  IBAN,
  interrupted,
  LINKED,
  paid,
  payeeCheck,
  payeesIn,
  RUN,
  storeOf,
  told,
  withFile,
  withPayees,
} from './with-batch.ts';

// Lines that are authorised each alone: what a second run does with what the first one has begun.

const temporary = temporaryFolder();
const payees = payeesIn(temporary);
it.each([true, false])(
  'a transfer that an earlier run has begun for a line goes on (noted: %s)',
  async (isNoted) => {
    const { bank, payer, pay } = await payees({}, 'Ada');
    const store = await storeOf(payer);
    const flow = await beginLine(store, 1, { isNoted, commits: 'on execute' });
    expect(await pay()).toEqual(paid(1));
    expect(bank.sent).toEqual(['verify transfer', 'sca pay-1', 'execute pay-1']);
    expect((await store.read()).flows).toEqual(new Map([[1, flow]]));
    expect(await pay()).toEqual(paid(1));
    expect([payer.flows(), bank.sent.length]).toEqual([1, 3]);
  },
);

it('a run that was stopped while the customer was at the bank goes on with the same payment', async () => {
  const { bank, pay } = await payees({}, 'Ada');
  bank.meets('status', interrupted());
  expect(await pay()).toMatchInlineSnapshot(
    `["1 authorizing tr-1 ", "0 of 1 paid, 1 awaits its customer.", "exit 130: run batch-1"]`,
  );
  expect([await pay(), bank.calls]).toEqual([
    paid(1),
    ['verify transfer', 'sca pay-1', 'status pay-1', 'status pay-1', 'execute pay-1'],
  ]);
});

it('a transfer that is not what its line orders is not sent', async () => {
  const { bank, payer, pay } = await payees({}, 'Ada');
  await beginLine(await storeOf(payer), 1, { commits: 'on execute', order: { name: 'Mallory' } });
  expect([await pay(), bank.calls]).toMatchInlineSnapshot(`
    [["1 created tr-1 The transfer of payment 1 is not what the batch orders",
      "Payment 1: The transfer of payment 1 is not what the batch orders. Somebody or something has changed the store. psd2 sends nothing. Restore it from a backup.",
      "0 of 1 paid.", "exit 8, unpaid 1 of 1: run batch-1"],
     []]
  `);
});

it('what somebody decides about a line before its transfer is written down counts', async () => {
  const bob = { by: 'bob', user: 'bob', machine: 'm' };
  const ends: unknown[] = [];
  const events = (sha256: string): BatchEvent[] => [
    { type: 'lines-cancelled', lines: [1], ...bob },
    { type: 'rejected', note: 'No', sha256, ...bob },
    { type: 'line-refused', line: 1, reason: 'Another run has refused it' },
    { type: 'line-begun', line: 1, flow: 'tr-0mwuiwxs0iiiii' },
  ];
  for (const index of [0, 1, 2, 3]) {
    const text = `name,iban,amount,from\nAda,${IBAN},10,${OWN_IBAN}\n`;
    const { bank, payer } = await withFile(temporary, new BankHere(), text);
    const store = await storeOf(payer);
    const [event] = events((await store.read()).sha256).slice(index);
    bank.meanwhile = async (call) => {
      if (call.startsWith('accounts') && event) await store.change(event);
    };
    const ran = await payer.run(RUN);
    const { data } = await payer.run(['transfer', 'list']);
    ends.push([event?.type, told(ran), bank.sent, data[0]?.state]);
  }
  expect(ends).toMatchInlineSnapshot(`
    [["lines-cancelled",
      ["1 cancelled  ", "0 of 1 paid, 1 not paid.", "exit 8, unpaid 1 of 1: retry batch-1"], [],
      "cancelled"],
     ["rejected", ["1 waiting  ", "0 of 1 paid.", "exit 8, unpaid 1 of 1: run batch-1"], [],
      "cancelled"],
     ["line-refused",
      ["1 failed  Another run has refused it", "0 of 1 paid, 1 not paid.",
       "exit 8, refused 1 of 1: report batch-1"],
      [], "cancelled"],
     ["line-begun",
      ["1 unknown tr-1 No flow of this profile matches "tr-1"", "0 of 1 paid, 1 unknown.",
       "exit 9, unknown 1 of 1: run batch-1"],
      [], "cancelled"]]
  `);
});

it('a reference is paid once, also in a batch that was added again', async () => {
  const { bank, payer, pay } = await payees({}, 'Ada', 'Bea');
  const again = await payer.run([
    'batch',
    'add',
    join(temporary, 'payments.csv'),
    '--from',
    OWN_ACCOUNT,
    '--again',
  ]);
  expect(endOf(again)).toEqual(['done']);
  expect(again.said).toMatchInlineSnapshot(`
    "2 of 2 payments have references of their own. psd2 pays a reference once, in this batch or in the one before. To pay both, give them other references
    Stored. It can be paid now.
    "
  `);
  expect((await pay(['batch', 'run', 'batch-2', '--only', '1'])).at(0)).toBe('1 executed tr-1 ');
  expect([await pay(['batch', 'run', 'batch-1']), bank.payments.length]).toMatchInlineSnapshot(`
    [["1 failed  The reference "R-1" was used by transfer tr-1, which is executed. That is payment 1 of the batch batch-2. psd2 pays a reference once. To pay this too, add it with another reference",
      "2 executed tr-2 ", "1 of 2 paid (11.00 EUR), 1 not paid.",
      "exit 8, refused 1 of 2: report batch-1"],
     2]
  `);
  expect([await pay(['batch', 'run', 'batch-2']), bank.payments.length]).toMatchInlineSnapshot(`
    [["1 executed tr-1 ",
      "2 failed  The reference "R-2" was used by transfer tr-2, which is executed. That is payment 2 of the batch batch-1. psd2 pays a reference once. To pay this too, add it with another reference",
      "1 of 2 paid (10.00 EUR), 1 not paid.", "exit 8, refused 1 of 2: report batch-2"],
     2]
  `);
});

it('a payment that psd2 cannot begin is ended, and the next run begins another one', async () => {
  const { bank, pay } = await payees({}, 'Ada');
  bank.meets('prepare', new Psd2Error('usage', 'Not possible'));
  expect(await pay()).toMatchInlineSnapshot(`
    ["1 created tr-1 Not possible", "Payment 1: Not possible.", "0 of 1 paid.",
     "exit 8, unpaid 1 of 1: run batch-1"]
  `);
  bank.meets('verify', new Psd2Error('forbidden', 'Not allowed', { refusal: 'other', isBanks: true }));
  expect([await pay(), bank.sent]).toMatchInlineSnapshot(`
    [["1 failed tr-1 Not allowed", "0 of 1 paid, 1 not paid.", "exit 8, unpaid 1 of 1: retry batch-1"],
     ["verify transfer"]]
  `);
  expect([await pay(), bank.sent]).toMatchInlineSnapshot(`
    [["1 failed tr-1 Not allowed", "0 of 1 paid, 1 not paid.", "exit 8, unpaid 1 of 1: retry batch-1"],
     ["verify transfer"]]
  `);
});

it('an instant payment that is not settled is unknown, and a later run asks only that', async () => {
  const { bank, pay } = await withPayees(
    temporary,
    new BankHere(),
    ['Ada'],
    ['--instant', '--payee-verified'],
  );
  bank.next = { settlement: 'PENDING' };
  expect(await pay(RUN, { globals: { scaTimeout: '2' } })).toMatchInlineSnapshot(`
    ["1 executed tr-1 The instant transfer is executed, but its status at the bank is still PENDING",
     "0 of 1 paid, 1 unknown.", "exit 9, unknown 1 of 1: run batch-1"]
  `);
  bank.calls.length = 0;
  bank.payment('pay-1').settlement = 'KO';
  expect([await pay(), bank.calls]).toMatchInlineSnapshot(`
    [["1 failed tr-1 Account closed", "0 of 1 paid, 1 not paid.",
      "exit 8, unpaid 1 of 1: retry batch-1"],
     ["settlement pay-1", "settlement pay-1"]]
  `);
});

it('the payee check is made again for a payment that nobody has confirmed, and kept for one that was', async () => {
  const ends: unknown[] = [];
  const initiation = initiationOf('payments', 'x', { address: 'https://tpp.example/callback', state: 's' });
  for (const events of [[], [{ type: 'accepted' }]] as const)
    for (const result of ['none', 'close', 'match']) {
      const { payer, bank } = await payees(LINKED, 'Ada');
      await beginLine(await storeOf(payer), 1, { initiation, events: [...events] });
      const env = { PSD2_PAYEE_CHECK: payeeCheck(temporary, { Ada: result }) };
      const ran = await payer.run(RUN, { env });
      await payer.run(['transfer', 'list']);
      ends.push([
        result,
        ...events.map(({ type }) => type),
        ...told(ran),
        ...bank.sent,
        payer.events('tr-1'),
      ]);
    }
  expect(ends).toMatchInlineSnapshot(`
    [["none", "1 failed  The payee check says: no match, the account is held by Other",
      "0 of 1 paid, 1 not paid.", "exit 8, refused 1 of 1: report batch-1", "created cancelled"],
     ["close",
      "1 created tr-1 The payee check of payment 1 says: close match, the account is held by Other",
      "Payment 1: The payee check of payment 1 says: close match, the account is held by Other. If the payee is right after all, add --accept-close.",
      "0 of 1 paid.", "exit 8, unpaid 1 of 1: run batch-1", "created"],
     ["match", "1 executed tr-1 ", "1 of 1 paid (10.00 EUR).", "done", "verify transfer", "sca pay-1",
      "created payee-checked accepted verify-sent verified approach-sent sca-started executed"],
     ["none", "accepted", "1 executed tr-1 ", "1 of 1 paid (10.00 EUR).", "done", "verify transfer",
      "sca pay-1", "created accepted verify-sent verified approach-sent sca-started executed"],
     ["close", "accepted", "1 executed tr-1 ", "1 of 1 paid (10.00 EUR).", "done", "verify transfer",
      "sca pay-1", "created accepted verify-sent verified approach-sent sca-started executed"],
     ["match", "accepted", "1 executed tr-1 ", "1 of 1 paid (10.00 EUR).", "done", "verify transfer",
      "sca pay-1", "created accepted verify-sent verified approach-sent sca-started executed"]]
  `);
});

it('a payment that the bank has verified is ended if the payee check of a later run does not match', async () => {
  const { bank, payer, pay } = await payees({}, 'Ada');
  await beginLine(await storeOf(payer), 1, {
    commits: 'on execute',
    events: [
      { type: 'verify-sent', requestId: 'r', digest: null },
      {
        ...{ type: 'verified', resourceId: 'p', totalAmount: null, commissions: null, bankName: null },
        nextStep: 'execute',
      },
    ],
  });
  const env = { PSD2_PAYEE_CHECK: payeeCheck(temporary, { Ada: 'none' }) };
  const ran = await payer.run(RUN, { env });
  expect([told(ran), bank.calls]).toMatchInlineSnapshot(`
    [["1 cancelled tr-1 The payee check says: no match, the account is held by Other",
      "0 of 1 paid, 1 not paid.", "exit 8, unpaid 1 of 1: retry batch-1"],
     []]
  `);
  expect([await pay(), endOf(await payer.run(['batch', 'retry', 'batch-1']))]).toMatchInlineSnapshot(`
    [["1 cancelled tr-1 The payee check says: no match, the account is held by Other",
      "0 of 1 paid, 1 not paid.", "exit 8, unpaid 1 of 1: retry batch-1"],
     ["done"]]
  `);
});

it('a customer who has a link gets no second one, and the tokens of the payment end with it', async () => {
  const { bank, payer } = await payees(LINKED, 'Ada');
  bank.customersAgree = false;
  const links = join(temporary, 'single.ndjson');
  writeFileSync(links, '');
  const run = () => payer.run([...RUN, '--links', links]);
  await keepPsu(payer.open().context, ANNA, { psuId: 'dora' });
  const awaited = [
    ...['1 authorizing tr-1 ', '0 of 1 paid, 1 awaits its customer.'],
    'exit 6, awaited 1 of 1: run batch-1',
  ];
  expect(told(await run())).toEqual(awaited);
  const { read, flows, batch } = await storeOf(payer);
  const flow = (await read()).flows.get(1) ?? '';
  expect(JSON.parse(readFileSync(links, 'utf8'))).toEqual({
    ...{ batch, line: 1, flow, customer: ANNA, reference: 'R-1', name: 'Ada', iban: IBAN },
    ...{ amount: '10.00', currency: 'EUR', url: 'https://customers.bank.example/pay-1', psuId: 'dora' },
  });
  bank.calls.length = 0;
  expect([told(await run()), bank.calls]).toEqual([awaited, ['status pay-1']]);

  const { context } = payer.open();
  const holder = paymentHolder((await flows.find('transfer', flow)).transactionId);
  await storeLogin(context, holder);
  Object.assign(bank.payment('pay-1'), { decision: 'AUTHORIZED', became: 'executed' });
  expect(told(await run())).toEqual(paid(1));
  expect(await (await context.store()).tokens.login(holder)).toBeUndefined();
  expect(readFileSync(links, 'utf8').trim().split('\n')).toHaveLength(1);
});

it('a person whom the operator names gets a link of their own once somebody has authorised the payment, not before', async () => {
  const { bank, payer } = await payees(LINKED, 'Ada');
  Object.assign(bank.interface, { customers: 'named by the operator' });
  bank.customersAgree = false;
  const globals = { customer: ANNA };
  await keepPsu(payer.open().context, ANNA, { psuId: 'dora' });
  const path = join(temporary, 'persons.ndjson');
  const linked: string[][] = [];
  const run = async (...person: string[]) => {
    writeFileSync(path, '');
    await payer.run([...RUN, '--links', path, ...person], { globals });
    linked.push(readFileSync(path, 'utf8').match(/(?<="psuId":")\w+/g) ?? []);
  };
  await run('--psu-id', 'emil');
  await run('--psu-id', 'emil');
  bank.last.isPartly = true;
  await run();
  await run('--psu-id', 'emil');
  expect([linked, bank.sent]).toEqual([
    [['dora'], [], [], ['emil']],
    ['verify transfer', 'sca pay-1', 'sca pay-1'],
  ]);
});

it('PSD2_NOTIFY_LINK gets each link on its standard input, beside the file of --links', async () => {
  const { bank, payer, pay } = await payees({}, 'Ada', 'Bea');
  bank.customersAgree = false;
  const [links, notified] = ['both.ndjson', 'notified.ndjson'].map((name) => join(temporary, name));
  const script = join(temporary, 'notify.sh');
  writeFileSync(script, `cat >> '${notified}'\n`);
  const env = { PSD2_NOTIFY_LINK: `sh '${script}'` };
  expect((await pay([...RUN, '--only', '1'], { env })).at(0)).toBe('1 authorizing tr-1 ');
  expect(existsSync(links ?? '')).toBe(false);
  await payer.run([...RUN, '--links', links ?? ''], { env });
  const linksIn = (path = '') =>
    readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).url);
  const [one, two] = [1, 2].map((id) => `https://customers.bank.example/pay-${id}`);
  expect([linksIn(links), linksIn(notified)]).toEqual([[two], [one, two]]);
});

it('a link that cannot be given stops its line, and the next run makes a new one', async () => {
  const { bank, payer, pay } = await payees({}, 'Ada', 'Bea');
  bank.customersAgree = false;
  const ran = await payer.run(RUN, { env: { PSD2_NOTIFY_LINK: 'false' } });
  expect([told(ran), bank.sent]).toMatchInlineSnapshot(`
    [["1 authorizing tr-1 The link notification command "false" ended with the exit code 1",
      "2 authorizing tr-2 The link notification command "false" ended with the exit code 1",
      "The link notification command "false" ended with the exit code 1. Check PSD2_NOTIFY_LINK or the profile.",
      "The link notification command "false" ended with the exit code 1. Check PSD2_NOTIFY_LINK or the profile.",
      "0 of 2 paid, 2 await their customer.", "exit 6, awaited 2 of 2: run batch-1"],
     ["verify transfer", "sca pay-1", "verify transfer", "sca pay-2"]]
  `);
  bank.customersAgree = true;
  expect([await pay(), bank.sent]).toEqual([
    paid(2),
    [
      'verify transfer',
      'sca pay-1',
      'verify transfer',
      'sca pay-2',
      'sca pay-1',
      'execute pay-1',
      'sca pay-2',
      'execute pay-2',
    ],
  ]);
});

it('a file of links that is a link to another file is refused before anything is sent', async () => {
  const { bank, payer } = await payees({}, 'Ada');
  const [path, other] = [join(temporary, 'links-link'), join(temporary, 'of-somebody-else')];
  writeFileSync(other, 'mine');
  symlinkSync(other, path);
  expect([
    endOf(await payer.run([...RUN, '--links', path])),
    bank.calls,
    readFileSync(other, 'utf8'),
  ]).toEqual([
    [
      `exit 3, config: The links cannot be written to ${path}, which is a link to another file`,
      'Name the file itself.',
    ],
    [],
    'mine',
  ]);
});

it('a file of links that cannot be written is refused before anything is sent', async () => {
  const { bank, payer } = await payees({}, 'Ada');
  const path = join(temporary, 'no', 'folder');
  expect([endOf(await payer.run([...RUN, '--links', path])), bank.calls]).toEqual([
    [
      `exit 3, config: The links cannot be written to ${path}: ENOENT`,
      'Check the path and the free space. The next run makes a new link.',
    ],
    [],
  ]);
});

it('a refusal by one answer alone is asked about again, and the payment may be executed after all', async () => {
  const { bank, pay } = await payees({}, 'Ada');
  bank.meets('execute', new Psd2Error('bank_refused', 'Not this one', { refusal: 'content', isBanks: true }));
  bank.next = { becomes: null };
  expect((await pay()).at(0)).toBe('1 failed tr-1 Not this one');
  bank.payment('pay-1').became = 'executed';
  bank.calls.length = 0;
  expect([await pay(), bank.calls]).toEqual([paid(1), ['status pay-1']]);
});

it('a reference that another line of the batch has taken refuses a line', async () => {
  const { bank, payer } = await payees({}, 'Ada', 'Bea');
  await beginLine(await storeOf(payer), 2, {
    ...{ isNoted: false, commits: 'on execute' },
    order: { reference: 'R-1', name: 'Ada' },
  });
  const ran = await payer.run([...RUN, '--only', '1']);
  expect([told(ran).at(0), bank.calls]).toEqual([
    expect.stringMatching(/^1 failed {2}The reference "R-1" .* That is payment 2 of the batch batch-1\. /),
    [],
  ]);
});

it('a customer who was sent to the bank from this machine gets a link if a later run writes links', async () => {
  const { bank, payer, pay } = await payees({}, 'Ada');
  bank.customersAgree = false;
  expect((await pay(RUN, { globals: { scaTimeout: '1' } })).at(0)).toMatch(/^1 authorizing tr-1 /);
  const links = join(temporary, 'later.ndjson');
  await payer.run([...RUN, '--links', links]);
  expect(JSON.parse(readFileSync(links, 'utf8')).url).toBe('https://customers.bank.example/pay-1');
});

it('the journal says which payment was initiated for a basket', async () => {
  const at = () => new BankHere({ ...LINKED, hasBaskets: true });
  const found: unknown[] = [];
  for (const way of ['single', 'basket']) {
    const { payer } = await payees(at(), 'Ada', 'Bea');
    await payer.run([...RUN, '--as', way]);
    const { flows, read } = await storeOf(payer);
    const flow = (await read()).flows.get(1) ?? '';
    found.push((await flows.find('transfer', flow)).initiation?.forBasket ?? false);
  }
  expect(found).toEqual([false, true]);
});
