import { describe, expect, it } from 'vitest';
import { error, errors, judge, type SentParts } from './judged.ts';

// Every name of the standard, whole: what a bank says of it is compared with what psd2 has sent. A name that psd2 did not know would free
// nothing; one that it takes for a field, and that identifies a payment, would free what stands.

const [proven, unknown] = ['nothing began', 'unknown'] as const;

/** @param path what the error names */
function says(text: string, path: string, sent: SentParts) {
  return judge({ status: 400, body: errors(error('FORMAT_ERROR', text, path)), sent }).says;
}

/** What an error proves of a field: that it is wrong or missing, if it was sent, and if it was not. */
function proofOf(path: string, sent: SentParts, unsent: SentParts) {
  return {
    wrong: [says('is wrong', path, sent), says('is wrong', path, unsent)],
    missing: [says('is missing', path, sent), says('is missing', path, unsent)],
  };
}

/** What is true of it is proof. */
const FIELD = { wrong: [proven, unknown], missing: [unknown, proven] };

/** A day that is missing proves nothing: an emptied body has none either, and it may have been another day. */
const DAY = { wrong: [proven, unknown], missing: [unknown, unknown] };

const proofNeeded = (name: string) => (/Date$|^ReqdExctnDt$/.test(name) ? DAY : FIELD);

const ACCOUNT = 'iban bban pan maskedPan msisdn other currency cashAccountType';
const REFERENCE = 'reference referenceType referenceIssuer';

/** The fields of a body in JSON (NextGenPSD2 1.3, section 5.3), with those in them. */
const JSON_FIELDS: readonly [field: string, inner: string][] = [
  ['debtorAccount', ACCOUNT],
  ['creditorAccount', ACCOUNT],
  ['instructedAmount', 'currency amount'],
  ['creditorAddress', 'streetName buildingNumber townName postCode country street city postalCode'],
  ['remittanceInformationStructured', REFERENCE],
  ['remittanceInformationStructuredArray', REFERENCE],
  ['debtorName', ''],
  ['debtorId', ''],
  ['debtorAgent', ''],
  ['ultimateDebtor', ''],
  ['creditorName', ''],
  ['creditorId', ''],
  ['creditorAgent', ''],
  ['creditorAgentName', ''],
  ['creditorNameAndAddress', ''],
  ['ultimateCreditor', ''],
  ['purposeCode', ''],
  ['chargeBearer', ''],
  ['serviceLevel', ''],
  ['remittanceInformationUnstructured', ''],
  ['remittanceInformationUnstructuredArray', ''],
  ['requestedExecutionDate', ''],
  ['requestedExecutionTime', ''],
  ['startDate', ''],
  ['endDate', ''],
  ['executionRule', ''],
  ['frequency', ''],
  ['dayOfExecution', ''],
  ['monthsOfExecution', ''],
  ['batchBookingPreferred', ''],
  ['payments', ''],
  ['currencyOfTransfer', ''],
  ['exchangeRateInformation', ''],
];

/** It is far off, so that a day is not too near to prove anything. */
const VALUE = '2027-02-15';

describe('a field in JSON', () => {
  it.each(JSON_FIELDS.map(([field]) => field))('%s', (field) => {
    expect(proofOf(field, { with: { [field]: VALUE } }, { without: [field] })).toEqual(proofNeeded(field));
  });

  const inner = JSON_FIELDS.flatMap(([field, names]) =>
    names
      .split(' ')
      .filter(Boolean)
      .map((name): [string, string] => [field, name]),
  );
  it.each(inner)('%s.%s', (field, name) => {
    const [sent, unsent] = [{ [name]: VALUE }, { own: VALUE }].map((value) => ({ with: { [field]: value } }));
    expect(proofOf(`${field}.${name}`, sent ?? {}, unsent ?? {})).toEqual(FIELD);
  });
});

/** What else banks call a field. */
const OTHER_NAMES: readonly [name: string, fields: string][] = [
  ['name', 'creditorName debtorName ultimateCreditor ultimateDebtor creditorAgentName'],
  ['address', 'creditorAddress'],
  ['date', 'requestedExecutionDate startDate endDate'],
  ['bic', 'creditorAgent debtorAgent'],
];

it.each(OTHER_NAMES)('"%s" may be %s, and nothing else', (name, fields) => {
  const all = fields.split(' ');
  for (const field of all)
    expect([
      field,
      proofOf(name, { with: { [field]: VALUE }, without: without(all, field) }, { without: all }),
    ]).toEqual([field, proofNeeded(field)]);
  expect(says('is wrong', name, { with: { creditorId: VALUE }, without: all })).toBe(unknown);
});

function without(all: readonly string[], one: string): string[] {
  return all.filter((each) => each !== one);
}

describe('a header', () => {
  it.each([
    'PSU-ID',
    'PSU-ID-Type',
    'PSU-Corporate-ID',
    'PSU-Corporate-ID-Type',
    'PSU-IP-Address',
    'PSU-IP-Port',
    'PSU-Accept',
    'PSU-Accept-Charset',
    'PSU-Accept-Encoding',
    'PSU-Accept-Language',
    'PSU-User-Agent',
    'PSU-Http-Method',
    'PSU-Device-ID',
    'PSU-Geo-Location',
    'TPP-Redirect-Preferred',
    'TPP-Redirect-URI',
    'TPP-Nok-Redirect-URI',
    'TPP-Decoupled-Preferred',
    'TPP-Explicit-Authorisation-Preferred',
    'TPP-Notification-URI',
    'TPP-Notification-Content-Preferred',
    'TPP-Brand-Logging-Information',
  ])('%s', (header) => {
    expect(proofOf(header, { with: { [header]: 'x1' } }, { without: [header] })).toEqual(FIELD);
  });
});

it('a header with a word for money in its name proves something only if the bank promises the same answer', () => {
  const name = 'TPP-Rejection-NoFunds-Preferred';
  const wrong = (repeat: 'same-answer' | undefined, path: string) =>
    judge({
      status: 400,
      body: errors(error('FORMAT_ERROR', 'is wrong', path)),
      sent: { with: { [name]: 'true' } },
      bank: { payments: repeat === undefined ? {} : { repeat } },
    }).says;
  expect([wrong(undefined, name), wrong('same-answer', name), wrong('same-answer', `X-${name}`)]).toEqual([
    unknown,
    proven,
    unknown,
  ]);
});

describe('beside a field that is wrong, this proves nothing', () => {
  const both = (path: string) => says("'creditorName' is wrong", path, {});
  it('but the field alone, or with a name of nothing, does', () => {
    expect([both('creditorName'), both('somethingElse')]).toEqual([proven, proven]);
  });

  it.each([
    // What identifies a request or a payment
    'X-Request-ID',
    'Request-ID',
    'TPP-Request-ID',
    'TPP-Transaction-ID',
    'endToEndIdentification',
    'endToEndId',
    'instructionIdentification',
    'instructionId',
    'instrId',
    'paymentInformationId',
    'pmtInfId',
    'msgId',
    'messageId',
    'paymentId',
    'uetr',
    'pmtId',
    // What is about the message
    'Date-Header',
    'Digest',
    'Signature',
    'Content-Type',
    'Content-Length',
    'Consent-ID',
    'Authorization',
    'Accept',
    'TPP-Signature-Certificate',
  ])('%s', (name) => {
    expect([both(name), both(`Header.${name}`), both(name.toUpperCase())]).toEqual([
      unknown,
      unknown,
      unknown,
    ]);
  });

  // They are names of headers at nobody's bank, so psd2 can't know what the bank means.
  it.each([
    'amount',
    'currency',
    'name',
    'date',
    'country',
    'city',
    'address',
    'reference',
    'frequency',
    'payments',
    'street',
  ])('a header %s', (word) => {
    expect(both(`Header.${word}`)).toBe(unknown);
  });
});

/** Elements of a pain.001, those in others by their path. */
const ELEMENTS = `
  GrpHdr CreDtTm NbOfTxs CtrlSum InitgPty PmtInf PmtMtd BtchBookg PmtTpInf SvcLvl LclInstrm CtgyPurp ReqdExctnDt Dbtr DbtrAcct DbtrAgt
  UltmtDbtr ChrgBr CdtTrfTxInf Amt InstdAmt Ccy CdtrAgt Cdtr CdtrAcct UltmtCdtr Purp RmtInf Ustrd Strd CdtrRefInf Ref Nm PstlAdr Ctry
  TwnNm PstCd StrtNm BldgNb AdrLine IBAN BIC BICFI FinInstnId Cd Dt Prtry`;

describe('an element of a pain.001', () => {
  const xml = (inner: string) => ({
    xml: `<Document><CstmrCdtTrfInitn>${inner}</CstmrCdtTrfInitn></Document>`,
  });
  it.each(ELEMENTS.trim().split(/\s+/))('%s', (name) => {
    const [sent, unsent] = [xml(`<${name}>${VALUE}</${name}>`), xml('<Own>x1</Own>')];
    expect(proofOf(name, sent, unsent)).toEqual(proofNeeded(name));
    expect(proofOf(`Document/CstmrCdtTrfInitn/${name}`, sent, unsent)).toEqual(proofNeeded(name));
  });
});

describe('of these, a bank says something of a day or of money, which may differ from one delivery to the next', () => {
  const near = '2026-11-28';
  it.each(['requestedExecutionDate', 'startDate', 'endDate'])('the day %s', (field) => {
    const wrong = (value: string) => says('is wrong', field, { with: { [field]: value } });
    expect([wrong(near), wrong(VALUE)]).toEqual([unknown, proven]);
  });

  it('the day of a pain.001', () => {
    const wrong = (value: string) =>
      says('is wrong', 'ReqdExctnDt', { xml: `<ReqdExctnDt>${value}</ReqdExctnDt>` });
    expect([wrong(near), wrong(VALUE)]).toEqual([unknown, proven]);
  });

  it.each(['InstdAmt', 'Amt', 'CtrlSum'])('the amount %s', (name) => {
    const more = (element: string, of = '') =>
      says(`has more than 5${of}`, element, { xml: `<${element}>7.00</${element}>` });
    expect([more(name), more(name, ' digits'), more('Nm')]).toEqual([unknown, proven, proven]);
  });

  it.each([
    ['instructedAmount', { instructedAmount: { amount: '7.00' } }],
    ['instructedAmount.amount', { instructedAmount: { amount: '7.00' } }],
  ])('the amount %s', (path, field) => {
    const more = (of = '') => says(`has more than 5${of}`, path, { with: field });
    expect([more(), more(' digits')]).toEqual([unknown, proven]);
  });
});
