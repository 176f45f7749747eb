import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { BankHere, OWN_ACCOUNT } from '../bank-here.ts';
import { ANNA, endOf, TODAY } from '../payer-here.ts';
import { IBAN, withFile } from './with-batch.ts';

// What a file orders is the same whatever it is called, and whoever pays it however: psd2 pays it once, unless it is meant.

const temporary = temporaryFolder();
const PATH = join(temporary, 'payments.csv');
const HEADING = 'name,iban,amount,description\n';
const ADA = `Ada Lovelace,${IBAN},1.10,March\n`;
const BEA = `Bea,${IBAN},2,\n`;
const FROM = ['--from', OWN_ACCOUNT];

const entry = (name: string, amount: string, text: string) =>
  `<CdtTrfTxInf><PmtId><EndToEndId>NOTPROVIDED</EndToEndId></PmtId><Amt><InstdAmt Ccy="EUR">${amount}</InstdAmt></Amt><Cdtr><Nm>${name}</Nm></Cdtr><CdtrAcct><Id><IBAN>${IBAN}</IBAN></Id></CdtrAcct>${text}</CdtTrfTxInf>`;
const PAIN_001 = `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.03"><CstmrCdtTrfInitn><GrpHdr><MsgId>M-1</MsgId><CreDtTm>2026-11-26T10:00:00</CreDtTm><NbOfTxs>2</NbOfTxs><CtrlSum>3.10</CtrlSum><InitgPty><Nm>X</Nm></InitgPty></GrpHdr><PmtInf><PmtInfId>P-1</PmtInfId><PmtMtd>TRF</PmtMtd><ReqdExctnDt>${TODAY}</ReqdExctnDt><Dbtr><Nm>X</Nm></Dbtr><DbtrAcct><Id><IBAN>IT60X0542811101000000123456</IBAN></Id></DbtrAcct><DbtrAgt><FinInstnId/></DbtrAgt>${entry('Ada Lovelace', '1.10', '<RmtInf><Ustrd>March</Ustrd></RmtInf>')}${entry('Bea', '2.00', '')}</PmtInf></CstmrCdtTrfInitn></Document>`;

const SAME: [string, string, string[], string?][] = [
  ['is the same', HEADING + ADA + BEA, FROM],
  ['is paid from an account by its IBAN', HEADING + ADA + BEA, ['--from', 'IT60X0542811101000000123456']],
  ['has the day on which it is paid anyway', HEADING + ADA + BEA, [...FROM, '--date', TODAY]],
  ['names the customer who pays anyway', HEADING + ADA + BEA, FROM, ANNA],
  ['is instant', HEADING + ADA + BEA, [...FROM, '--instant', '--payee-verified']],
  [
    'has names and texts in other case, with other blanks',
    `${HEADING}ADA  lovelace,${IBAN},1.1,MARCH\n${BEA}`,
    FROM,
  ],
  [
    'has another sequence, columns and spellings',
    `amount;iban;name;description\n2.00;${IBAN};Bea;\n1.10;DE89 3704 0044 0532 0130 00;Ada Lovelace;March\n`,
    FROM,
  ],
  ['is pain.001', PAIN_001, []],
];

it.each(SAME.flatMap((each) => [false, true].map((isPaid) => ({ each, isPaid }))))(
  'a file that $each.0 needs --again; the first is paid: $isPaid',
  async ({ each: [, text, options, customer], isPaid }) => {
    const { payer } = await withFile(temporary, new BankHere(), HEADING + ADA + BEA, FROM);
    if (isPaid) expect((await payer.run(['batch', 'run', 'batch-1'])).failure).toBeNull();
    writeFileSync(PATH, text);
    const how = customer === undefined ? {} : { globals: { customer } };
    const again = (verb: string, more: string[] = []) =>
      payer.run(['batch', verb, PATH, ...options, ...more], how);
    expect(endOf(await again('add'))[0]).toBe('exit 2, usage: The batch batch-1 has the same content');
    expect((await again('check')).data.problems).toMatchObject([
      { line: null, message: expect.stringMatching(/^The batch batch-1 has the same content\. .*--again$/) },
    ]);
    expect((await again('check', ['--again'])).failure).toBeNull();
    expect((await again('add', ['--again'])).failure).toBeNull();
  },
);

it.each([
  ['another amount', `Ada Lovelace,${IBAN},1.11,March\n`],
  ['another text', `Ada Lovelace,${IBAN},1.10,April\n`],
  ['another payee', `Bob,${IBAN},1.10,March\n`],
])('a payment with %s is another one', async (_what, line) => {
  const { payer } = await withFile(temporary, new BankHere(), HEADING + ADA, FROM);
  writeFileSync(PATH, HEADING + line);
  expect((await payer.run(['batch', 'add', PATH, ...FROM])).failure).toBeNull();
});

it('a payment that another batch has needs --again until that is surely not paid, or was paid long ago', async () => {
  const { payer } = await withFile(temporary, new BankHere(), HEADING + ADA, FROM);
  const add = (text: string, more: string[] = [], how = {}) => {
    writeFileSync(PATH, text);
    return payer.run(['batch', 'add', PATH, ...FROM, ...more], how);
  };
  const both = HEADING + BEA + ADA;
  expect(endOf(await add(both))[0]).toContain(
    'has 1 error. line 3: Payment 1 of the batch batch-1 pays the same payee the same amount for the same text',
  );
  await payer.run(['batch', 'cancel', 'batch-1'], { yes: true });
  // Also a file that orders just what was cancelled.
  expect((await add(HEADING + ADA)).failure).toBeNull();
  expect(endOf(await add(HEADING + ADA))[0]).toContain('has the same content');
  expect((await payer.run(['batch', 'run', 'batch-2'])).failure).toBeNull();
  expect(endOf(await add(both))[0]).toContain('Payment 1 of the batch batch-2');
  const later = { now: new Date(Date.now() + 40 * 86_400_000).toISOString() };
  expect((await add(both, [], later)).failure).toBeNull();
  expect(endOf(await add(HEADING + ADA, [], later))[0]).toContain('has the same content');
});
