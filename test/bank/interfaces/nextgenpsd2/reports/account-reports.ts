// The true bookings of an account, and how a bank writes them in each format. Nothing here is shared with psd2.

export interface Booking {
  amount: string;
  bookingDay: string;
  valueDay: string;
  isPending: boolean;
  id: string | null;
  reference: string | null;
  endToEndId: string | null;
  mandateId: string | null;
  name: string | null;
  iban: string | null;
  remittance: string;
  text: string | null;
  /** A German code of three digits, and an ISO one. */
  code: string;
  isoCode: string | null;
  purpose: string | null;
}

export const OWN = 'DE89370400440532013000';

const isDebit = ({ amount }: Booking) => amount.startsWith('-');
const plain = ({ amount }: Booking) => amount.replace('-', '');
const isSaid = (value: unknown) => value !== null && value !== undefined && value !== '';
const without = (row: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => isSaid(value)));

export function asJson(bookings: readonly Booking[]): string {
  const row = (each: Booking) => {
    const side = isDebit(each) ? 'creditor' : 'debtor';
    return without({
      transactionAmount: { amount: each.amount, currency: 'EUR' },
      ...{ bookingDate: each.bookingDay, valueDate: each.valueDay },
      ...{ transactionId: each.id, entryReference: each.reference },
      ...{ endToEndId: each.endToEndId, mandateId: each.mandateId, [`${side}Name`]: each.name },
      [`${side}Account`]: each.iban && { iban: each.iban },
      remittanceInformationUnstructured: each.remittance,
      additionalInformation: each.text,
      proprietaryBankTransactionCode: each.code,
      ...{ bankTransactionCode: each.isoCode, purposeCode: each.purpose },
    });
  };
  return JSON.stringify({
    account: { iban: OWN },
    transactions: {
      booked: bookings.filter((each) => !each.isPending).map(row),
      pending: bookings.filter((each) => each.isPending).map(row),
    },
  });
}

const escaped = (text: string) =>
  text.replace(/[&<>]/g, (each) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[each] ?? '');
const element = (name: string, ...inner: (string | null)[]) => {
  const content = inner.join('');
  return content === '' ? '' : `<${name}>${content}</${name}>`;
};
const said = (name: string, text: string | null) => (text === null ? '' : element(name, escaped(text)));

/** @param prefix of the namespace */
export function asCamt(
  bookings: readonly Booking[],
  kind: '052' | '053',
  version: string,
  prefix = '',
  inEntry: (each: Booking) => string = () => '',
): string {
  const isNew = Number(version) >= 8;
  const name = (text: string | null) => (isNew ? element('Pty', said('Nm', text)) : said('Nm', text));
  const entry = (each: Booking) => {
    const role = isDebit(each) ? 'Cdtr' : 'Dbtr';
    const status = each.isPending ? 'PDNG' : 'BOOK';
    const [domain = '', family = '', sub = ''] = each.isoCode?.split('-') ?? [];
    return element(
      'Ntry',
      said('NtryRef', each.reference),
      `<Amt Ccy="EUR">${plain(each)}</Amt>`,
      element('CdtDbtInd', isDebit(each) ? 'DBIT' : 'CRDT'),
      element('Sts', isNew ? element('Cd', status) : status),
      element('BookgDt', element('Dt', each.bookingDay)),
      element('ValDt', element('Dt', each.valueDay)),
      said('AcctSvcrRef', each.id),
      element(
        'BkTxCd',
        each.isoCode &&
          element('Domn', said('Cd', domain), element('Fmly', said('Cd', family), said('SubFmlyCd', sub))),
        element('Prtry', said('Cd', each.code)),
      ),
      inEntry(each),
      element(
        'NtryDtls',
        element(
          'TxDtls',
          element('Refs', said('EndToEndId', each.endToEndId), said('MndtId', each.mandateId)),
          element(
            'RltdPties',
            element(role, name(each.name)),
            element(`${role}Acct`, element('Id', said('IBAN', each.iban))),
          ),
          element('Purp', said('Cd', each.purpose)),
          element('RmtInf', each.remittance === '' ? '' : said('Ustrd', each.remittance)),
        ),
      ),
      said('AddtlNtryInf', each.text),
    );
  };
  const [root, report] = kind === '053' ? ['BkToCstmrStmt', 'Stmt'] : ['BkToCstmrAcctRpt', 'Rpt'];
  const half = Math.ceil(bookings.length / 2);
  const reports = [bookings.slice(0, half), bookings.slice(half)].map((part) =>
    element(
      report,
      '<Id>R</Id>',
      element('Acct', element('Id', element('IBAN', OWN)), '<Ccy>EUR</Ccy>'),
      ...part.map(entry),
    ),
  );
  const xml = `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.${kind}.001.${version}">${element(root, '<GrpHdr><MsgId>M</MsgId></GrpHdr>', ...reports)}</Document>`;
  const named =
    prefix === '' ? xml : xml.replace(/(<\/?)/g, `$1${prefix}:`).replace('xmlns=', `xmlns:${prefix}=`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${named.replaceAll('><', '>\n<')}`;
}

const wrapped = (text: string, length: number) => text.match(new RegExp(`.{1,${length}}`, 'gs')) ?? [];

/** What is booked as MT940, what is not as MT942. */
export function asMt940(bookings: readonly Booking[]): string {
  const short = (day: string) => day.slice(2).replaceAll('-', '');
  const entry = (each: Booking) => {
    const parts = [
      each.endToEndId === null ? '' : `EREF+${each.endToEndId}`,
      each.mandateId === null ? '' : `MREF+${each.mandateId}`,
      each.purpose === null ? '' : `PURP+${each.purpose}`,
      each.remittance === '' ? '' : `SVWZ+${each.remittance}`,
    ].flatMap((part) => wrapped(part, 27));
    const fields = [
      each.text === null ? '' : `?00${each.text}`,
      ...parts.map((part, index) => `?${index < 10 ? 20 + index : 50 + index}${part}`),
      each.iban === null ? '' : `?31${each.iban}`,
      ...wrapped(each.name ?? '', 27).map((part, index) => `?${32 + index}${part}`),
    ];
    const first = `:61:${short(each.valueDay)}${short(each.bookingDay).slice(2)}${isDebit(each) ? 'D' : 'C'}${plain(each).replace('.', ',')}NTRFNONREF${each.id === null ? '' : `//${each.id}`}`;
    return [first, `:86:${wrapped(`${each.code}${fields.join('')}`, 65).join('\r\n')}`];
  };
  const message = (lines: string[], rows: readonly Booking[]) => [
    ...[':20:STARTUMSE', `:25:${OWN}`, ':28C:00001/001', ...lines],
    ...rows.flatMap(entry),
  ];
  return [
    ...message(
      [':60F:C261101EUR100,00'],
      bookings.filter(({ isPending }) => !isPending),
    ),
    ...[':62F:C261130EUR100,00', '-'],
    ...message(
      [':34F:EUR0,', ':13D:2611211200+0100'],
      bookings.filter(({ isPending }) => isPending),
    ),
    '-',
  ].join('\r\n');
}
