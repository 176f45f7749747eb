import { describe, expect, test } from 'vitest';
import type { Json } from '../tpp.ts';
import { type Bank, CARD, CURRENT, giveConsent, newDoor } from './door-client.ts';

// Whatever form a bank gives to the rows of an account, they are the same rows.

const QUERY = 'dateFrom=2026-08-22&pageIndex=0&itemsPerPage=1000';
const TYPES = { json: 'application/json', camt: 'application/xml', mt940: 'text/plain' };

interface Row {
  [field: string]: unknown;
  bookingDate?: string;
  valueDate?: string;
  transactionAmount: { amount: string };
}

/** The answer of a bank with all rows of an account. */
async function listed(
  accounts: Bank['accounts'],
  {
    type = 'json',
    status = 'both',
    account = `accounts/${CURRENT}`,
  }: {
    type?: keyof typeof TYPES;
    status?: string;
    account?: string;
  } = {},
) {
  const at = await newDoor({
    accounts: { paging: 'page-index', reports: ['json', 'camt', 'mt940'], ...accounts },
  });
  const consent = await giveConsent(at);
  const headers = { 'psu-ip-address': '192.0.2.1', accept: TYPES[type] };
  return at.client.get(`/v1/${account}/transactions?${QUERY}&bookingStatus=${status}`, consent, headers);
}

const isRow = (row: unknown): row is Row =>
  typeof row === 'object' && row !== null && 'transactionAmount' in row;
const rowsOf = (list: Json | undefined): Row[] => (Array.isArray(list) ? list.filter(isRow) : []);

async function rows(
  accounts: Bank['accounts'] = {},
): Promise<{ booked: Row[]; pending: Row[]; iban: unknown }> {
  const { json } = await listed(accounts);
  const { booked, pending } = json.transactions ?? {};
  return { booked: rowsOf(booked), pending: rowsOf(pending), iban: json.account?.iban };
}

const isOut = ({ transactionAmount }: Row) => transactionAmount.amount.startsWith('-');
const unsigned = ({ transactionAmount }: Row) => transactionAmount.amount.replace('-', '');
const text = (row: Row, field: string) => String(row[field] ?? '');

test('without signs, the account is the debtor of what goes out, and the creditor of what comes in', async () => {
  const plain = await rows();
  const { booked, pending } = await rows({ amounts: 'unsigned' });
  const written = (row: Row) => ({
    ...row,
    transactionAmount: { currency: 'EUR', amount: unsigned(row) },
    [isOut(row) ? 'debtorAccount' : 'creditorAccount']: { iban: plain.iban },
  });
  expect(booked).toEqual(plain.booked.map(written));
  expect(pending).toEqual(plain.pending.map(written));
  expect(new Set(plain.booked.map(isOut)).size).toBe(2);
});

test.each([
  ['Europe/Helsinki', '21:00', '22:00', -1],
  ['Europe/Rome', '22:00', '23:00', -1],
  ['Atlantic/Azores', '00:00', '01:00', 0],
])(
  'in %s, a day is the time at which it begins there, in summer and in winter',
  async (zone, summer, winter, ahead) => {
    const plain = await rows();
    const { booked, pending } = await rows({ zone });
    // Summer time ends on 25 October, in the morning.
    const begin = (day: string) => {
      const date = new Date(Date.parse(day) + ahead * 86_400_000).toISOString().slice(0, 10);
      return `${date}T${day <= '2026-10-25' ? summer : winter}:00Z`;
    };
    const written = (row: Row) => ({
      ...row,
      ...(row.bookingDate && { bookingDate: begin(row.bookingDate) }),
      ...(row.valueDate && { valueDate: begin(row.valueDate) }),
    });
    expect(booked).toEqual(plain.booked.map(written));
    expect(pending).toEqual(plain.pending.map(written));
    expect(new Set(plain.booked.map(({ bookingDate = '' }) => bookingDate <= '2026-10-25')).size).toBe(2);
  },
);

/** The text of an element. Undefined: there is none. */
function inXml(entry: string, name: string): string | undefined {
  const [, content] = new RegExp(`<${name}>(.*?)</${name}>`, 's').exec(entry) ?? [];
  return content
    ?.replace(/<[^>]+>/g, ' ')
    .trim()
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
}

describe('in camt', () => {
  /** What an entry must say of a row. */
  const said = (row: Row, status: string) => ({
    ...{ NtryRef: row.entryReference, AcctSvcrRef: row.transactionId, BookgDt: row.bookingDate },
    ...{ ValDt: row.valueDate, CdtDbtInd: isOut(row) ? 'DBIT' : 'CRDT', Sts: status },
    ...{ EndToEndId: row.endToEndId, Cdtr: row.creditorName, Dbtr: row.debtorName },
    ...{ Ustrd: row.remittanceInformationUnstructured, AddtlNtryInf: row.additionalInformation },
    ...{ Domn: row.bankTransactionCode && text(row, 'bankTransactionCode').replaceAll('-', ' ') },
    ...{ Prtry: row.proprietaryBankTransactionCode, amount: unsigned(row) },
  });

  test.each(['booked', 'pending', 'both'])('the entries are the rows: %s', async (status) => {
    const plain = await rows();
    const [booked, pending] = [
      status === 'pending' ? [] : plain.booked.map((row) => said(row, 'BOOK')),
      status === 'booked' ? [] : plain.pending.map((row) => said(row, 'PDNG')),
    ];
    const { text: xml, headers } = await listed({}, { type: 'camt', status });
    expect(headers['content-type']).toBe('application/xml');
    expect([xml.includes('camt.053'), xml.includes('camt.052')]).toEqual([
      status === 'booked',
      status !== 'booked',
    ]);
    const entries = xml.split('<Ntry>').slice(1);
    const read = entries.map((entry) => ({
      ...Object.fromEntries(
        Object.keys(said(plain.booked[0] ?? expect.unreachable(), '')).map((name) => [
          name,
          inXml(entry, name),
        ]),
      ),
      amount: /<Amt Ccy="EUR">([^<]*)</.exec(entry)?.[1],
    }));
    const squeezed = (list: object[]) => JSON.parse(JSON.stringify(list).replace(/ +/g, ' '));
    expect(squeezed(read)).toEqual(squeezed([...booked, ...pending]));
    expect(inXml(xml, 'IBAN')).toBe(plain.iban);
  });
});

describe('in MT940', () => {
  const compact = (day: string) => day.slice(2).replaceAll('-', '');
  /** The lines of a row: what psd2's own reader of them would see, without their breaks. */
  const said = (row: Row) => ({
    day: compact(row.valueDate ?? ''),
    booked: compact(row.bookingDate ?? '').slice(2),
    mark: isOut(row) ? 'D' : 'C',
    amount: unsigned(row).replace('.', ','),
    id: text(row, 'transactionId').slice(0, 16),
    words: text(row, 'remittanceInformationUnstructured').replaceAll('?', '.'),
    reference: text(row, 'endToEndId'),
  });

  function entriesIn(message: string) {
    return message
      .split('\r\n:61:')
      .slice(1)
      .map((entry) => {
        const [, day, booked, mark, amount, id] =
          /^(\d{6})(\d{4})?([CD])([\d,]+)NTRFNONREF\/\/(.*)/.exec(entry) ?? [];
        const information =
          entry
            .split('\r\n:86:')[1]
            ?.split(/\r\n(?=:|-)/)[0]
            ?.replaceAll('\r\n', '') ?? '';
        const details = information
          .split('?')
          .flatMap((part) => (/^[26]\d/.test(part) ? [part.slice(2)] : []));
        const [, reference = '', words] = /^(?:EREF\+(.*?))?SVWZ\+(.*)$/s.exec(details.join('')) ?? [];
        return { day, booked: booked ?? '', mark, amount, id, words, reference };
      });
  }
  const balance = (message: string, tag: string) => new RegExp(`:${tag}:(.*)\r\n`).exec(message)?.[1];
  const cents = (list: Row[]) =>
    list.reduce((sum, { transactionAmount }) => sum + Math.round(Number(transactionAmount.amount) * 100), 0);

  test.each(['booked', 'pending', 'both'])('the lines are the rows: %s', async (status) => {
    const plain = await rows();
    const { text: all, headers } = await listed({}, { type: 'mt940', status });
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    const messages = all.split(':20:').slice(1);
    const statement = messages.find((message) => message.includes(':60F:'));
    const interim = messages.find((message) => message.includes(':34F:'));
    expect([messages.length, statement === undefined, interim === undefined]).toEqual([
      ...[status === 'both' ? 2 : 1, status === 'pending', status === 'booked'],
    ]);
    if (statement !== undefined) {
      expect(entriesIn(statement)).toEqual(plain.booked.map(said));
      const sum = cents(plain.booked);
      const amount = (Math.abs(sum) / 100).toFixed(2).replace('.', ',');
      const [newest, oldest] = [plain.booked[0], plain.booked.at(-1)].map((row) =>
        compact(row?.valueDate ?? ''),
      );
      expect(balance(statement, '60F')).toBe(`C${oldest}EUR0,00`);
      expect(balance(statement, '62F')).toBe(`${sum < 0 ? 'D' : 'C'}${newest}EUR${amount}`);
    }
    if (interim !== undefined) expect(entriesIn(interim)).toEqual(plain.pending.map(said));
    for (const message of messages) expect(balance(message, '25')).toBe(plain.iban);
  });
});

test.each(['camt', 'mt940'] as const)('in %s, the account of a card is its masked number', async (type) => {
  const { text: document } = await listed({}, { type, status: 'booked', account: `card-accounts/${CARD}` });
  expect(document).toContain('525412xxxxxx3017');
});
