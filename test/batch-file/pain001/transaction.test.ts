import { describe, expect, test } from 'vitest';
import { document, IBAN, information, readFile, transaction } from '../reading.ts';

const FIRST = '/Document/CstmrCdtTrfInitn/PmtInf[1]/CdtTrfTxInf[1]';
const to = (account: string, address = '') =>
  `<Cdtr><Nm>Ada</Nm>${address}</Cdtr><CdtrAcct><Id>${account}</Id></CdtrAcct>`;
const instructed = (id: string, endToEndId = 'E-1') =>
  `<InstrId>${id}</InstrId><EndToEndId>${endToEndId}</EndToEndId>`;
const INSTANT = '<PmtTpInf><LclInstrm><Cd>INST</Cd></LclInstrm></PmtTpInf>';
const URGENT = '<PmtTpInf><InstrPrty>HIGH</InstrPrty></PmtTpInf>';

/** Reads a document of one payment. */
function readOne(payment: string, changes: Record<string, string> = {}) {
  return readFile(document([information([payment], changes)]));
}

/** Reads a document of one payment whose payee has this address. */
function readAddress(parts: string) {
  return readOne(transaction({ payee: to(`<IBAN>${IBAN}</IBAN>`, `<PstlAdr>${parts}</PstlAdr>`) }));
}

describe('a payment in a pain.001', () => {
  const REFERENCE = '<RmtInf><Strd><CdtrRefInf><Ref>RF19539007547034</Ref></CdtrRefInf></Strd></RmtInf>';
  const IN_USD = 'The currency "USD" is not possible: SEPA transfers are in EUR';
  const NO_REFERENCE =
    'The payee\'s reference "RF19539007547034" is not a reference of ISO 11649: its check digits are wrong';
  const TWO_NUMBERS = `<IBAN>${IBAN}</IBAN><Othr><Id>123</Id></Othr>`;
  test.each([
    ['PmtId/InstrId', { id: instructed('I'.repeat(36)) }, 'The id does not have 1 to 35 characters'],
    ['CdtrAcct/Id/Othr', { payee: to(TWO_NUMBERS) }, 'psd2 pays to an IBAN, and to no other account number'],
    ['Amt/InstdAmt/@Ccy', { amount: '<InstdAmt Ccy="USD">1</InstdAmt>' }, IN_USD],
    ['RmtInf/Strd/CdtrRefInf/Ref', { rest: REFERENCE }, NO_REFERENCE],
    ['CdtrAcct/Id/IBAN', { payee: to('<IBAN>DE00</IBAN>') }, expect.stringMatching(/^The IBAN "DE00" /)],
  ])('is refused with a wrong %s', async (path, parts, message) => {
    const { lines, problems } = await readOne(transaction(parts));
    expect(lines).toEqual([]);
    expect(problems).toEqual([
      { severity: 'error', line: 1, fileLine: 4, place: `${FIRST}/${path}`, message },
    ]);
  });

  test('without an amount is refused, and its sum is not compared', async () => {
    const { said } = await readOne(transaction({ amount: '' }), { CtrlSum: '<CtrlSum>5</CtrlSum>' });
    expect(said).toEqual([
      `error ${FIRST}/Amt/InstdAmt: The element is missing`,
      `error ${FIRST}/Amt/InstdAmt/@Ccy: The element is missing`,
    ]);
  });

  test.each([0, 1, 2])('without an amount is refused wherever it stands: after %i others', async (at) => {
    const payments = [1, 2].map((n) => transaction({ id: `<EndToEndId>E-${n}</EndToEndId>` }));
    payments.splice(at, 0, transaction({ amount: '<InstdAmt Ccy="EUR">?</InstdAmt>' }));
    const { said, lines } = await readFile(
      document([information(payments, { CtrlSum: '<CtrlSum>25</CtrlSum>' })]),
    );
    expect(said.filter((each) => each.startsWith('error'))).toEqual([
      expect.stringContaining(`CdtTrfTxInf[${at + 1}]/Amt/InstdAmt`),
    ]);
    expect(lines).toHaveLength(2);
  });

  test('may have an InstrId of 35 characters', async () => {
    const id = 'I'.repeat(35);
    const { lines, said } = await readOne(transaction({ id: instructed(id, 'NOTPROVIDED') }));
    expect(said).toEqual([]);
    expect(lines).toMatchObject([
      { reference: null, ids: { paymentInformationId: 'P-1', instructionId: id, endToEndId: 'NOTPROVIDED' } },
    ]);
  });

  test.each([
    ['its own speed', INSTANT, '', { instant: true, urgent: false }],
    ['that of its PmtInf', '', URGENT, { instant: false, urgent: true }],
    ['none', '', '', { instant: false, urgent: false }],
  ])('has %s', async (_what, own, ofGroup, speed) => {
    const { lines, said } = await readOne(transaction({ rest: own }), { PmtTpInf: ofGroup });
    expect(said).toEqual([]);
    expect(lines).toMatchObject([speed]);
  });

  test('may not have a speed of its own if its PmtInf has one', async () => {
    const { lines, said } = await readOne(transaction({ rest: INSTANT }), { PmtTpInf: INSTANT });
    expect(lines).toEqual([]);
    expect(said).toEqual([`error ${FIRST}/PmtTpInf: PmtTpInf is in PmtInf too. It must be in one of them`]);
  });

  test('with a speed of its own in a wrong PmtInf is checked all the same', async () => {
    const { lines, said } = await readOne(
      transaction({ rest: `${INSTANT}<ChrgBr>CRED</ChrgBr>`, id: '<EndToEndId/>' }),
      { PmtMtd: '' },
    );
    expect(lines).toEqual([]);
    expect(said).toEqual([
      'error /Document/CstmrCdtTrfInitn/PmtInf[1]/PmtMtd: The element is missing',
      `error ${FIRST}/ChrgBr: psd2 cannot pay with "CRED": it knows SLEV`,
      expect.stringMatching(`^error ${FIRST.replace(/[[\]]/g, '\\$&')}/PmtId/EndToEndId: The reference `),
    ]);
  });

  test('is instant or verified if the operator says so of all', async () => {
    const rules = { instant: true, payeeVerified: true };
    const { lines } = await readFile(document([information([transaction()])]), rules);
    expect(lines).toMatchObject([{ ...rules, urgent: false }]);
  });

  test('keeps an address, also if it has the least, and says that its lines are not sent', async () => {
    const least = { country: 'IT', townName: 'Roma', postCode: null, streetName: null, buildingNumber: null };
    const town = '<Ctry>IT</Ctry><TwnNm>Roma</TwnNm>';
    expect(await readAddress(town)).toMatchObject({
      said: [],
      lines: [{ address: { ...least, lines: [] } }],
    });
    const street = { streetName: 'Via Roma', buildingNumber: '1', postCode: '00100' };
    const parts = `${town}<StrtNm>Via Roma</StrtNm><BldgNb>1</BldgNb><PstCd>00100</PstCd>`;
    const warning = `warning ${FIRST}/Cdtr/PstlAdr/AdrLine: psd2 pays without this part of the address`;
    expect(await readAddress(`${parts}<AdrLine>Scala B</AdrLine><AdrLine>Int. 7</AdrLine>`)).toMatchObject({
      said: [warning],
      lines: [{ address: { ...least, ...street, lines: ['Scala B', 'Int. 7'] } }],
    });
  });

  test.each([
    ['TwnNm', 35],
    ['PstCd', 16],
    ['StrtNm', 70],
    ['BldgNb', 16],
    ['AdrLine', 70],
  ])('may have a %s of %i characters in its address, and no more', async (name, most) => {
    const parts = (length: number) =>
      `<Ctry>IT</Ctry>${name === 'TwnNm' ? '' : '<TwnNm>Roma</TwnNm>'}<${name}>${'x'.repeat(length)}</${name}>`;
    expect((await readAddress(parts(most))).lines).toHaveLength(1);
    const { lines, said } = await readAddress(parts(most + 1));
    expect(lines).toEqual([]);
    expect(said[0]).toBe(
      `error ${FIRST}/Cdtr/PstlAdr/${name}: The text has ${most + 1} characters, but at most ${most} are allowed`,
    );
  });

  test('has all problems of its address in one reading', async () => {
    const lines = ['a', 'b\u0000', 'c'].map((line) => `<AdrLine>${line}</AdrLine>`).join('');
    const { said } = await readAddress(
      `<Ctry>XX</Ctry><TwnNm>Roma</TwnNm><StrtNm>€</StrtNm>${lines.replace('\u0000', '€')}`,
    );
    expect(said).toEqual([
      `error ${FIRST}/Cdtr/PstlAdr/AdrLine: The text contains the character "€" at position 2, which SEPA does not allow`,
      `error ${FIRST}/Cdtr/PstlAdr/StrtNm: The text contains the character "€" at position 1, which SEPA does not allow`,
      `error ${FIRST}/Cdtr/PstlAdr/Ctry: The country "XX" is not a code of ISO 3166-1`,
    ]);
  });

  test('may have two lines of an address and no third', async () => {
    const { lines, said } = await readAddress(
      `<Ctry>IT</Ctry><TwnNm>Roma</TwnNm>${'<AdrLine>a</AdrLine>'.repeat(3)}`,
    );
    expect(lines).toEqual([]);
    expect(said[0]).toBe(`error ${FIRST}/Cdtr/PstlAdr/AdrLine: The address has more than 2 lines`);
  });
});

test.each([
  ['<Tp><CdOrPrtry><Cd>SCOR</Cd></CdOrPrtry><Issr>BBA</Issr></Tp>', '090933755493', 'SCOR', 'BBA'],
  ['<Tp><CdOrPrtry><Prtry>OCR</Prtry></CdOrPrtry></Tp>', '12344', 'OCR', null],
  ['', 'RF18 5390 0754 7034', 'SCOR', 'ISO'],
])(
  'a payment in a pain.001 with the reference of a payee %s is read',
  async (tp, reference, type, issuer) => {
    const rest = `<RmtInf><Strd><CdtrRefInf>${tp}<Ref>${reference}</Ref></CdtrRefInf></Strd></RmtInf>`;
    const { lines } = await readOne(transaction({ rest }));
    const creditorReference = { reference: reference.replaceAll(' ', ''), type, issuer };
    expect(lines).toMatchObject([{ description: '', creditorReference }]);
  },
);
