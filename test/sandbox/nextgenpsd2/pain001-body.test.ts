import { describe, expect, test } from 'vitest';
import {
  fileIdsIn,
  readPain001,
  readSinglePain001,
} from '../../../src/sandbox/nextgenpsd2/payments/pain001-body.ts';
import { DoorRefusal, refusalText } from '../../../src/sandbox/nextgenpsd2/refusal.ts';
import { rawRequest } from '../strict/raw.ts';

const VERSION = 'pain.001.001.09';
const NAMESPACE = `urn:iso:std:iso:20022:tech:xsd:${VERSION}`;
const TODAY = '2026-11-20';
const DEBTOR = '<DbtrAcct><Id><IBAN>IT01</IBAN></Id></DbtrAcct>';

/** A transfer, with what its payee has beside the name, and what comes after the payee's account. */
const transfer = (id: string, { payee = '', more = '' } = {}) =>
  `<CdtTrfTxInf><PmtId><EndToEndId>${id}</EndToEndId></PmtId><Amt><InstdAmt Ccy="EUR">12.50</InstdAmt></Amt>` +
  `<Cdtr><Nm>Beta</Nm>${payee}</Cdtr><CdtrAcct><Id><IBAN>DE02</IBAN></Id></CdtrAcct>${more}</CdtTrfTxInf>`;

const group = (content: string) => `<PmtInf><PmtInfId>G1</PmtInfId>${content}</PmtInf>`;

const file = (groups: string, namespace = NAMESPACE) =>
  `<Document xmlns="${namespace}"><CstmrCdtTrfInitn><GrpHdr><MsgId>M1</MsgId></GrpHdr>${groups}</CstmrCdtTrfInitn></Document>`;

/** A file of one transfer that says in its header, and in its group, how many it has. */
const counted = (inHeader: string | undefined, inGroup: string | undefined) => {
  const count = (value: string | undefined) => (value === undefined ? '' : `<NbOfTxs>${value}</NbOfTxs>`);
  return file(group(count(inGroup) + transfer('A'))).replace('</GrpHdr>', `${count(inHeader)}</GrpHdr>`);
};

/** The transfer as the body of the standard in JSON. */
const entry = (id: string, more: object = {}) => ({
  endToEndIdentification: id,
  instructedAmount: { currency: 'EUR', amount: '12.50' },
  creditorAccount: { iban: 'DE02' },
  creditorName: 'Beta',
  ...more,
});

const read = (body: string) => readPain001(rawRequest({ body }), VERSION, TODAY);

/** What the bank says of a body that it does not take. */
function refusalOf(run: () => unknown): string {
  try {
    return JSON.stringify(run());
  } catch (error) {
    if (error instanceof DoorRefusal) return `${error.code}: ${refusalText(error)}`;
    throw error;
  }
}

describe('a file', () => {
  test.each([1, 2, 3])('with %i transfers: each has its own texts', (count) => {
    const ids = ['A', 'B', 'C'].slice(0, count);
    const { debtorAccount, payments } = read(file(group(DEBTOR + ids.map((id) => transfer(id)).join(''))));
    expect(debtorAccount).toEqual({ iban: 'IT01' });
    expect(payments).toEqual(ids.map((id) => entry(id)));
  });

  const town = '<PstlAdr><TwnNm>Berlin</TwnNm><Ctry>DE</Ctry></PstlAdr>';
  const whole =
    '<PstlAdr><StrtNm>Weg</StrtNm><BldgNb>1</BldgNb><PstCd>10115</PstCd><TwnNm>Berlin</TwnNm><Ctry>DE</Ctry></PstlAdr>';
  const text = '<RmtInf><Ustrd> Invoice 7 </Ustrd></RmtInf>';
  const address = { townName: 'Berlin', country: 'DE' };
  test.each<[what: string, xml: { payee?: string; more?: string }, fields: object]>([
    ['an address of town and country', { payee: town }, { creditorAddress: address }],
    [
      'a whole address',
      { payee: whole },
      { creditorAddress: { ...address, streetName: 'Weg', buildingNumber: '1', postCode: '10115' } },
    ],
    [
      'a country alone',
      { payee: '<PstlAdr><Ctry>DE</Ctry></PstlAdr>' },
      { creditorAddress: { country: 'DE' } },
    ],
    ['no country', { payee: '<PstlAdr><TwnNm>Berlin</TwnNm></PstlAdr>' }, {}],
    ['a text', { more: text }, { remittanceInformationUnstructured: 'Invoice 7' }],
    ['an empty text', { more: '<RmtInf><Ustrd/></RmtInf>' }, { remittanceInformationUnstructured: '' }],
  ])('with %s, between two transfers without', (_, xml, fields) => {
    const { payments } = read(file(group(DEBTOR + transfer('A') + transfer('B', xml) + transfer('C'))));
    expect(payments).toStrictEqual([entry('A'), entry('B', fields), entry('C')]);
  });

  test.each<[element: string, fields: object]>([
    ['', {}],
    ['<BtchBookg>true</BtchBookg>', { batchBookingPreferred: true }],
    ['<BtchBookg>false</BtchBookg>', { batchBookingPreferred: false }],
    ['<BtchBookg>1</BtchBookg>', { batchBookingPreferred: true }],
    ['<BtchBookg>0</BtchBookg>', { batchBookingPreferred: false }],
    ['<BtchBookg> true </BtchBookg>', { batchBookingPreferred: true }],
    ['<NbOfTxs>1</NbOfTxs>', {}],
    [`<ReqdExctnDt><Dt>${TODAY}</Dt></ReqdExctnDt>`, {}],
    ['<ReqdExctnDt><Dt>2026-11-19</Dt></ReqdExctnDt>', { requestedExecutionDate: '2026-11-19' }],
    ['<ReqdExctnDt><Dt>2026-11-21</Dt></ReqdExctnDt>', { requestedExecutionDate: '2026-11-21' }],
    // Until version 08.
    [`<ReqdExctnDt>${TODAY}</ReqdExctnDt>`, {}],
    ['<ReqdExctnDt>2026-11-21</ReqdExctnDt>', { requestedExecutionDate: '2026-11-21' }],
  ])('whose group has "%s"', (element, fields) => {
    const { debtorAccount: _, payments: __, ...rest } = read(file(group(element + DEBTOR + transfer('A'))));
    expect(rest).toEqual(fields);
  });

  test.each([counted('1', undefined), counted(undefined, '1'), counted('1', '1')])(
    '%s has as many transfers as it says',
    (body) => {
      expect(read(body).payments).toEqual([entry('A')]);
    },
  );

  test('has the currencies of the accounts apart from that of the amount', () => {
    const account = (name: string, iban: string) =>
      `<${name}><Id><IBAN>${iban}</IBAN></Id><Ccy>EUR</Ccy></${name}>`;
    const payee = transfer('A').replace(/<CdtrAcct>.*<\/CdtrAcct>/, account('CdtrAcct', 'DE03'));
    expect(read(file(group(account('DbtrAcct', 'IT02') + payee)))).toEqual({
      debtorAccount: { iban: 'IT02', currency: 'EUR' },
      payments: [entry('A', { creditorAccount: { iban: 'DE03', currency: 'EUR' } })],
    });
  });

  test('that leaves out what a payment needs has it empty, so that the bank names the field', () => {
    expect(read(file(group('<CdtTrfTxInf/>')))).toEqual({
      debtorAccount: { iban: '' },
      payments: [
        {
          endToEndIdentification: undefined,
          instructedAmount: { currency: '', amount: '' },
          creditorAccount: { iban: '' },
          creditorName: '',
        },
      ],
    });
  });

  test.each<[body: string, refusal: string | RegExp]>([
    ['', /^FORMAT_ERROR: The body is not XML\. /],
    ['{"payments":[]}', /^FORMAT_ERROR: The body is not XML\. /],
    [file(group('<a></b>')), /^FORMAT_ERROR: The body is not XML\. /],
    [`<!DOCTYPE a>${file(group(transfer('A')))}`, 'FORMAT_ERROR: The body has a DOCTYPE.'],
    ['<Document/>', `FORMAT_ERROR: The body is not ${VERSION}. Received: Document of .`],
    [
      `<Other xmlns="${NAMESPACE}"/>`,
      `FORMAT_ERROR: The body is not ${VERSION}. Received: Other of ${NAMESPACE}.`,
    ],
    [
      file(group(transfer('A')), NAMESPACE.replace('09', '03')),
      `FORMAT_ERROR: The body is not ${VERSION}. Received: Document of ${NAMESPACE.replace('09', '03')}.`,
    ],
    [file(''), 'FORMAT_ERROR: The bank takes one PmtInf. Received: 0.'],
    [
      file(group(transfer('A')) + group(transfer('B'))),
      'FORMAT_ERROR: The bank takes one PmtInf. Received: 2.',
    ],
    ...[
      counted('2', undefined),
      counted(undefined, '2'),
      counted('2', '1'),
      counted('1', '2'),
      counted('2', '2'),
    ].map((body): [string, string] => [body, 'FORMAT_ERROR: NbOfTxs is wrong. Expected: 1. Received: 2.']),
    [counted('1', '0'), 'FORMAT_ERROR: NbOfTxs is wrong. Expected: 1. Received: 0.'],
    [counted('', '1'), 'FORMAT_ERROR: NbOfTxs is wrong. Expected: 1. Received: .'],
    ...['yes', 'True', ''].map((text): [string, string] => [
      file(group(`<BtchBookg>${text}</BtchBookg>${transfer('A')}`)),
      `FORMAT_ERROR: BtchBookg is no boolean. Received: ${text}.`,
    ]),
    [
      file(group(`<NbOfTxs>1</NbOfTxs>${transfer('A')}${transfer('B')}`)),
      'FORMAT_ERROR: NbOfTxs is wrong. Expected: 2. Received: 1.',
    ],
  ])('%s is refused', (body, refusal) => {
    expect(refusalOf(() => read(body))).toEqual(
      typeof refusal === 'string' ? refusal : expect.stringMatching(refusal),
    );
  });

  test.each([
    [file(group('')), 'M1', 'G1'],
    [file(group('')).replaceAll(/<(\/?)(\w)/g, '<$1p:$2'), 'M1', 'G1'],
    ['<Document/>', '', ''],
  ])('%s has its ids', (body, message, information) => {
    expect(fileIdsIn(rawRequest({ body }))).toEqual({ message, information });
  });
});

describe('a payment alone', () => {
  const day = '<ReqdExctnDt><Dt>2026-11-23</Dt></ReqdExctnDt>';
  const xml = file(group(day + DEBTOR + transfer('A')));
  const alone = { debtorAccount: { iban: 'IT01' }, ...entry('A') };
  const rule = { startDate: '2026-12-01', frequency: 'Monthly' };

  /** The parts of a form. */
  const form = (parts: [name: string, content: string][]) =>
    `${parts
      .map(([name, content]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${content}\r\n`)
      .join('')}--b--`;
  const sent = (body: string, type = 'multipart/form-data; boundary=b') =>
    readSinglePain001(rawRequest({ body, headers: [['Content-Type', type]] }), 'multipart', VERSION, TODAY);
  const XML_PART: [string, string] = ['xml_sct', xml];
  const RULE_PART: [string, string] = ['json_standingorderType', JSON.stringify(rule)];

  test('is read from XML, with its day and without the booking of a batch', () => {
    const body = xml.replace(day, `${day}<BtchBookg>true</BtchBookg>`);
    const read = readSinglePain001(rawRequest({ body }), 'xml', VERSION, TODAY);
    expect(read).toEqual({ ...alone, requestedExecutionDate: '2026-11-23' });
  });

  test.each([2, 3])('is not a file with %i transfers', (count) => {
    const body = file(
      group(
        ['A', 'B', 'C']
          .slice(0, count)
          .map((id) => transfer(id))
          .join(''),
      ),
    );
    expect(refusalOf(() => readSinglePain001(rawRequest({ body }), 'xml', VERSION, TODAY))).toBe(
      `FORMAT_ERROR: The bank takes one CdtTrfTxInf. Received: ${count}.`,
    );
  });

  test.each([
    ['in this order', [XML_PART, RULE_PART]],
    ['in the other order', [RULE_PART, XML_PART]],
    ['with another part', [['other', 'x'], XML_PART, RULE_PART]],
  ] as [string, [string, string][]][])(
    'that is a standing order has its rule in a part of its own, %s',
    (_, parts) => {
      // The rule has the days, not the XML.
      expect(sent(form(parts))).toEqual({ ...alone, ...rule });
    },
  );

  test('may have a line after its end', () => {
    expect(sent(`${form([XML_PART, RULE_PART])}\r\n`)).toEqual({ ...alone, ...rule });
  });

  test('may have its boundary in quotation marks', () => {
    expect(sent(form([XML_PART, RULE_PART]), 'multipart/form-data; boundary="b"; charset=utf-8')).toEqual({
      ...alone,
      ...rule,
    });
  });

  const whole = form([XML_PART, RULE_PART]);
  const noParts = 'FORMAT_ERROR: The body does not have the parts of multipart/form-data. boundary: ';
  test.each<[what: string, body: string, type: string | undefined, refusal: string]>([
    ['without a boundary', whole, 'multipart/form-data', `${noParts}undefined`],
    ['with another boundary', whole, 'multipart/form-data; boundary=c', `${noParts}c`],
    ['with a text before the parts', `x${whole}`, undefined, `${noParts}b`],
    ['without an end', whole.slice(0, -'--b--'.length), undefined, `${noParts}b`],
    ['with another end', whole.replace(/--$/, 'x--'), undefined, `${noParts}b`],
    ['that is empty', '', undefined, `${noParts}b`],
    ['without the XML', form([RULE_PART]), undefined, 'FORMAT_ERROR: The body is not XML.'],
    ['without the rule', form([XML_PART]), undefined, 'FORMAT_ERROR: The body is not JSON'],
  ])('%s is refused', (_, body, type, refusal) => {
    expect(refusalOf(() => sent(body, type))).toContain(refusal);
  });
});
