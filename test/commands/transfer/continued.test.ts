import { describe, expect, it } from 'vitest';
import type { Context } from '../../../src/commands/context.ts';
import { collect } from '../../../src/commands/flow/list.ts';
import { resumeAll } from '../../../src/commands/transfer/resume-all.ts';
import { parseDate } from '../../../src/domain/calendar.ts';
import { type ErrorContext, Psd2Error } from '../../../src/errors.ts';
import { CallLog, type LoggedCall } from '../../../src/store/machine/call-log.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { BankHere, OWN_IBAN } from '../bank-here.ts';
import { ANNA, endOf, NOW, payerAt } from '../payer-here.ts';

// Transfers that psd2 continues or looks at: what the log of calls knows, who else works on them, and what became of them.

const temporary = temporaryFolder();
const TO = ['--to', 'IT60X0542811101000000123456', '--name', 'Mario Rossi', '--amount', '12.50'];
const CREATE = ['transfer', 'create', '--from', '0000012345', ...TO];
const LINKED = { commits: 'by the customer' } as const;
const BY_IBAN = { readAccountId: (text: string) => text };

/** An operator whose first transfer waits for its customer. */
async function withWaiting() {
  const bank = new BankHere();
  bank.customersAgree = false;
  const payer = await payerAt(bank, temporary);
  await payer.run(CREATE, { globals: { scaTimeout: '1' } });
  bank.calls.length = 0;
  payer.leaveBehind();
  return { bank, payer };
}

describe('a transfer whose initiation had no answer', () => {
  const CALL: LoggedCall = {
    ...{ at: NOW, profile: 'env', host: 'bank.example', method: 'POST', path: '/payments', failure: null },
    ...{ status: 201, milliseconds: 1, tppRequestId: 'request-1', requestId: null, apiTrackId: null },
    ...{ flow: null, irrevocable: true, transactionId: 't', route: '/payments', kind: 'pis' },
  };

  /** Continues it, after psd2 has logged its call with this status. */
  async function resumed(status: number | null) {
    const bank = new BankHere(LINKED);
    bank.meets('verify', 'lost');
    const payer = await payerAt(bank, temporary);
    await payer.run(CREATE);
    const { context } = payer.open();
    const { flows } = await context.store();
    const log = new CallLog(payer.folder.log);
    for (const { transactionId } of await collect(flows.list('transfer')))
      log.append({ ...CALL, transactionId, status });
    log.close();
    return { ran: await payer.run(['transfer', 'resume', 'tr-1']), bank };
  }

  it('is not initiated again if the log of calls knows of an answer', async () => {
    const { ran, bank } = await resumed(201);
    expect(endOf(ran)[0]).toBe(
      'exit 9, outcome_unknown of tr-1: The bank has answered the initiation, but the journal of tr-1 does not have the answer. It may be older than a link that the customer has, so psd2 initiates nothing',
    );
    expect(bank.sent).toEqual(['verify transfer']);
  });

  it('is initiated again if the log knows of none, and psd2 says so', async () => {
    const { ran, bank } = await resumed(null);
    expect([ran.data.state, endOf(ran)]).toEqual(['executed', ['done']]);
    expect(ran.said).toContain(
      'The answer to the initiation was lost. Nobody has the link to authorise that transfer, so psd2 initiates it again under the same reference.\n',
    );
    expect(bank.sent).toEqual(['verify transfer', 'verify transfer', 'sca pay-2']);
  });
});

describe('the account to debit, at a bank whose payments name its IBAN', () => {
  it('is read once if a person chooses it from the list', async () => {
    const bank = new BankHere(LINKED);
    const payer = await payerAt(bank, temporary);
    const answers = ['0000012345', '', true];
    const { failure } = await payer.run(['transfer', 'create', ...TO], { answers });
    expect(failure).toBeNull();
    expect(bank.calls.filter((call) => call.startsWith('accounts'))).toEqual([`accounts ${ANNA}`]);
  });

  it('is not looked up by its IBAN if the customer has a consent for some accounts only', async () => {
    const bank = new BankHere(LINKED);
    Object.assign(bank.interface, BY_IBAN);
    const payer = await payerAt(bank, temporary);
    const { customers } = await payer.open().context.store();
    await customers.change(ANNA, () => ({
      psu: { id: null, idType: null, corporateId: null, corporateIdType: null },
      consents: [
        {
          ...{ flow: 'co-1', consentId: 'c-1', accounts: [OWN_IBAN], reads: ['accounts'], validUntil: null },
          ...{ recurring: true, frequencyPerDay: 4, grantedAt: NOW },
        },
      ],
    }));
    const other = 'DE89370400440532013000';
    expect((await payer.run(['transfer', 'create', '--from', other, ...TO])).failure).toBeNull();
    expect(bank.calls).not.toContain(`accounts ${ANNA}`);
  });
});

describe('resume --all', () => {
  it.each<[ErrorContext, string]>([
    [{}, 'The bank is failing.'],
    [{ hint: 'Wait.' }, 'The bank is failing. Wait.'],
    [
      { hint: 'Look at it with:', next: [['transfer', 'show', 'tr-1']] },
      'The bank is failing. Look at it with: psd2 --profile shop transfer show tr-1',
    ],
  ])('says of each transfer that fails why, and with %j what to do', async (advice, words) => {
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
});

it('resume --all shows every unfinished transfer, so it names none as interrupted', async () => {
  const { bank, payer } = await withWaiting();
  const isForPerson = { changes: () => ({ isForPerson: true }) };
  expect((await payer.run(['transfer', 'list'], isForPerson)).said).toBe(
    'Interrupted: transfer tr-1 (authorizing). Continue with: psd2 transfer resume tr-1\n',
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

  it.each([
    ['failed', 'executed', ''],
    ['executed', 'executed', ''],
  ] as const)('if the bank now says %s of one that was %s, psd2 says: %s', async (became, state, words) => {
    const bank = new BankHere(LINKED);
    const payer = await payerAt(bank, temporary);
    await payer.run(CREATE);
    bank.last.became = became;
    const { data, said } = await payer.run(['transfer', 'status', 'tr-1']);
    expect([data.state, said]).toEqual([state, words]);
  });

  it('of one that was cancelled says nothing new if the bank says the same', async () => {
    const bank = new BankHere(LINKED);
    const payer = await payerAt(bank, temporary);
    bank.next = { becomes: 'cancelled' };
    expect((await payer.run(CREATE)).data.state).toBe('cancelled');
    const { data, said, failure } = await payer.run(['transfer', 'status', 'tr-1']);
    expect([data.state, said, failure]).toEqual(['cancelled', '', null]);
  });

  const refused = () => new Psd2Error('bank_refused', 'No', { refusal: 'content', isBanks: true });

  it('of one that the customer declined is the local record if the bank has forgotten it', async () => {
    const bank = new BankHere();
    bank.next = { decision: 'NOT_AUTHORIZED' };
    const payer = await payerAt(bank, temporary);
    await payer.run(CREATE);
    bank.meets('status', refused());
    const { data, said, failure } = await payer.run(['transfer', 'status', 'tr-1']);
    expect([data.state, said, failure]).toEqual([
      ...['rejected', 'The bank has no further status. Showing the local record. No\n', null],
    ]);
  });

  it('of one whose execute was refused is not known if the bank does not have it', async () => {
    const bank = new BankHere();
    bank.meets('execute', refused());
    const payer = await payerAt(bank, temporary);
    expect((await payer.run(CREATE)).data.state).toBe('failed');
    bank.meets('status', refused());
    const ran = await payer.run(['transfer', 'status', 'tr-1']);
    expect([ran.printed, endOf(ran)[0]]).toEqual(['', 'exit 7, bank_refused: No']);
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

it('a transfer is continued without further data if nobody gave any', async () => {
  const { bank, payer } = await withWaiting();
  bank.last.decision = 'AUTHORIZED';
  expect((await payer.run(['transfer', 'resume', 'tr-1'])).data.state).toBe('executed');
  expect(payer.journal('tr-1').map(({ type }) => type)).not.toContain('further-data');
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

it('a person at a terminal reads which days the bank allows, and what it takes', async () => {
  const bank = new BankHere();
  const day = (text: string) => parseDate('--date', text);
  bank.terms = {
    ...{ today: day('2026-11-24'), earliestDate: day('2026-11-25'), latestDate: day('2027-11-24') },
    ...{ holidays: [day('2026-12-25'), day('2026-12-26')], urgent: true },
    currencies: [{ code: 'EUR', label: 'Euro', rate: null }],
  };
  const payer = await payerAt(bank, temporary);
  const prepare = ['transfer', 'prepare', '0000012345'];
  expect((await payer.run(prepare, { format: 'table', stdout: 120 })).printed).toMatchInlineSnapshot(`
    "Today at the bank  2026-11-24
    Earliest date      2026-11-25
    Latest date        2027-11-24
    Bank holidays      2026-12-25 2026-12-26
    Currencies         EUR
    Urgent transfers   yes
    "
  `);
});
