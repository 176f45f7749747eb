import { describe, expect, test } from 'vitest';
import { document, IBAN, information, paid, readFile, transaction } from '../reading.ts';

const AT = '/Document/CstmrCdtTrfInitn';
const FIRST = `${AT}/PmtInf[1]/CdtTrfTxInf[1]`;

describe('a pain.001', () => {
  test('gives each payment with all that it and its PmtInf say', async () => {
    const { lines, said, source } = await readFile(
      document([
        information([
          transaction({
            id: '<InstrId>I-1</InstrId><EndToEndId>E-1</EndToEndId>',
            rest: '<RmtInf><Ustrd> Invoice 7 </Ustrd></RmtInf>',
          }),
          paid('NOTPROVIDED', '1'),
        ]),
        information([paid('E-2', '2')], {
          PmtInfId: '<PmtInfId>P-2</PmtInfId>',
          PmtTpInf:
            '<PmtTpInf><InstrPrty>HIGH</InstrPrty><SvcLvl><Cd>SEPA</Cd></SvcLvl><LclInstrm><Cd>INST</Cd></LclInstrm></PmtTpInf>',
          DbtrAcct: '<DbtrAcct><Id><Othr><Id>0000012345</Id></Othr></Id></DbtrAcct>',
        }),
      ]),
    );
    expect(said).toEqual([]);
    expect(source).toEqual({ format: 'pain.001.001.09', messageId: 'M-1', count: 3, sum: null });
    const payer = { customer: null, from: null, fromIban: 'IT60X0542811101000000123456' };
    const payee = { name: 'Ada Lovelace', iban: IBAN, currency: 'EUR' };
    const speed = { executionDate: '2026-12-01', instant: false, urgent: false };
    const usual = { ...speed, payeeVerified: false, address: null };
    expect(lines).toEqual([
      {
        ...{ ...payer, ...payee, ...usual, line: 1, place: FIRST, amount: '12.50', description: 'Invoice 7' },
        reference: 'E-1',
        ids: { paymentInformationId: 'P-1', instructionId: 'I-1', endToEndId: 'E-1' },
      },
      {
        ...{ ...payer, ...payee, ...usual, line: 2, place: `${AT}/PmtInf[1]/CdtTrfTxInf[2]`, amount: '1.00' },
        ...{ description: '', reference: null },
        ids: { paymentInformationId: 'P-1', instructionId: null, endToEndId: 'NOTPROVIDED' },
      },
      {
        ...{ ...payee, ...usual, line: 3, place: `${AT}/PmtInf[2]/CdtTrfTxInf[1]`, amount: '2.00' },
        ...{ customer: null, from: '0000012345', fromIban: null, instant: true, urgent: true },
        ...{ description: '', reference: 'E-2' },
        ids: { paymentInformationId: 'P-2', instructionId: null, endToEndId: 'E-2' },
      },
    ]);
  });

  test('is read with prefixes, CDATA, references of characters, comments, and in pieces of any size', async () => {
    const plain = document([information([transaction({ rest: '<RmtInf><Ustrd>A + B</Ustrd></RmtInf>' })])]);
    const other = plain
      .replace(/<(\/?)([A-Z])/g, '<$1p:$2')
      .replace('xmlns=', 'xmlns:p=')
      .replace('A + B', '<![CDATA[A ]]>&#43;<!-- and --> B');
    const bytes = Buffer.from(other);
    const pieces = Array.from({ length: bytes.length }, (_, index) => bytes.subarray(index, index + 1));
    const { said, lines, sha256 } = await readFile(pieces);
    expect(said).toEqual([]);
    expect(lines[0]?.description).toBe('A + B');
    expect(sha256).toBe((await readFile(plain)).sha256);
  });

  test.each([
    [
      'two references of the payee',
      `<RmtInf>${'<Strd><CdtrRefInf><Ref>1</Ref></CdtrRefInf></Strd>'.repeat(2)}</RmtInf>`,
      'RmtInf/Strd',
    ],
    ['a property of objects as an element', '<constructor/>', 'constructor'],
    ['a second payee', '<Cdtr><Nm>Bob</Nm></Cdtr>', 'Cdtr'],
    ['a second IBAN', `<CdtrAcct><Id><IBAN>${IBAN}</IBAN></Id></CdtrAcct>`, 'CdtrAcct'],
    ['another service level', '<PmtTpInf><SvcLvl><Cd>URGP</Cd></SvcLvl></PmtTpInf>', 'PmtTpInf/SvcLvl/Cd'],
    ['another way', '<PmtTpInf><LclInstrm><Cd>B2B</Cd></LclInstrm></PmtTpInf>', 'PmtTpInf/LclInstrm/Cd'],
  ])('is not paid with %s', async (_what, rest, path) => {
    const { lines, problems } = await readFile(document([information([transaction({ rest })])]));
    expect(lines.length === 0 || problems.some(({ severity }) => severity === 'error')).toBe(true);
    expect(problems.map(({ place }) => place)).toContain(`${FIRST}/${path}`);
    expect(problems.filter(({ severity }) => severity === 'error')).not.toEqual([]);
  });

  test.each([
    ['ReqdExctnDt', '<Dt>2026-12-01</Dt><DtTm>2026-12-02T10:00:00</DtTm>', 'both Dt and DtTm'],
    ['DbtrAcct', `<Id><IBAN>${IBAN}</IBAN><Othr><Id>0000012345</Id></Othr></Id>`, 'two numbers'],
  ])('is wrong if %s says two things', async (name, content, what) => {
    const read = await readFile(
      document([information([transaction()], { [name]: `<${name}>${content}</${name}>` })]),
    );
    expect(read.lines).toEqual([]);
    expect(read.said).toEqual([expect.stringMatching(new RegExp(`^error .*/${name}.*${what}$`))]);
  });

  test('is wrong with an element of another namespace that has the name of its own', async () => {
    const plain = document([information([transaction()])]);
    const { lines, said } = await readFile(plain.replace('<Cdtr>', '<Cdtr xmlns="urn:other">'));
    expect(lines).toEqual([]);
    expect(said).toContain(
      `error ${FIRST}/Cdtr: psd2 does not know this element of the namespace "urn:other"`,
    );
  });

  test('names what is missing, each at its place', async () => {
    const empty = `<CdtTrfTxInf><PmtId/><Amt><InstdAmt>1</InstdAmt></Amt></CdtTrfTxInf>`;
    const { said, lines, source } = await readFile(
      document([`<PmtInf>${empty}</PmtInf>`], '<CreDtTm>2026-11-20T10:00:00</CreDtTm>'),
    );
    expect(lines).toEqual([]);
    expect(source).toEqual({ format: 'pain.001.001.09', messageId: '', count: null, sum: null });
    expect(said).toMatchInlineSnapshot(`
      ["error /Document/CstmrCdtTrfInitn/GrpHdr/MsgId: The element is missing",
       "error /Document/CstmrCdtTrfInitn/GrpHdr/NbOfTxs: The element is missing",
       "error /Document/CstmrCdtTrfInitn/PmtInf[1]/PmtInfId: The element is missing",
       "error /Document/CstmrCdtTrfInitn/PmtInf[1]/PmtMtd: The element is missing",
       "error /Document/CstmrCdtTrfInitn/PmtInf[1]/DbtrAcct: The account to debit is missing",
       "error /Document/CstmrCdtTrfInitn/PmtInf[1]/ReqdExctnDt: The element is missing",
       "error /Document/CstmrCdtTrfInitn/PmtInf[1]/CdtTrfTxInf[1]/PmtId/EndToEndId: The element is missing",
       "error /Document/CstmrCdtTrfInitn/PmtInf[1]/CdtTrfTxInf[1]/Cdtr/Nm: The element is missing",
       "error /Document/CstmrCdtTrfInitn/PmtInf[1]/CdtTrfTxInf[1]/CdtrAcct/Id/IBAN: The element is missing",
       "error /Document/CstmrCdtTrfInitn/PmtInf[1]/CdtTrfTxInf[1]/Amt/InstdAmt/@Ccy: The element is missing"]
    `);
  });

  test.each([
    ['the town', '<Ctry>IT</Ctry><AdrLine>Via Roma 1</AdrLine>', /lacks town \(TwnNm\), so SEPA forbids it/],
    ['the country', '<TwnNm>Roma</TwnNm>', /lacks country \(Ctry\)/],
    ['a country that exists', '<TwnNm>Roma</TwnNm><Ctry>ZZ</Ctry>', /"ZZ" is not a code of ISO 3166-1/],
    ['both', '', /lacks town \(TwnNm\) and country \(Ctry\)/],
  ])('with an address without %s is not paid', async (_what, parts, message) => {
    const payee = `<Cdtr><Nm>Ada</Nm><PstlAdr>${parts}</PstlAdr></Cdtr><CdtrAcct><Id><IBAN>${IBAN}</IBAN></Id></CdtrAcct>`;
    const { lines, said } = await readFile(document([information([transaction({ payee })])]));
    expect(lines).toEqual([]);
    expect(said).toEqual([expect.stringMatching(message)]);
  });

  test.each<[lines: string[], kept: string[] | null]>([
    [[], []],
    [[''], []],
    [['Scala B'], ['Scala B']],
    [
      ['Scala B', 'Int. 7'],
      ['Scala B', 'Int. 7'],
    ],
    // An element can be empty.
    [
      ['Scala B', '', 'Int. 7'],
      ['Scala B', 'Int. 7'],
    ],
    [['Scala B', 'Int. 7', 'c/o Bob'], null],
  ])(
    'with the lines %j of an address has those of them that say something, and at most two',
    async (lines, kept) => {
      const written = lines.map((line) => `<AdrLine>${line}</AdrLine>`).join('');
      const address = `<PstlAdr><TwnNm>Roma</TwnNm><Ctry>IT</Ctry>${written}</PstlAdr>`;
      const payee = `<Cdtr><Nm>Ada</Nm>${address}</Cdtr><CdtrAcct><Id><IBAN>${IBAN}</IBAN></Id></CdtrAcct>`;
      const read = await readFile(document([information([transaction({ payee })])]));
      expect(read.lines.map((line) => line.address?.lines)).toEqual(kept === null ? [] : [kept]);
      expect(read.said.filter((each) => each.startsWith('error'))).toEqual(
        kept === null ? [`error ${FIRST}/Cdtr/PstlAdr/AdrLine: The address has more than 2 lines`] : [],
      );
    },
  );

  test('must have as many payments, and as much money, as its headers say', async () => {
    const header = (count: number, sum: string) =>
      `<MsgId>M</MsgId><CreDtTm>2026-11-20T10:00:00</CreDtTm><NbOfTxs>${count}</NbOfTxs><CtrlSum>${sum}</CtrlSum>`;
    const two = (NbOfTxs: string, CtrlSum: string) =>
      information([transaction(), paid('E-2', '0.1')], {
        NbOfTxs: `<NbOfTxs>${NbOfTxs}</NbOfTxs>`,
        CtrlSum: `<CtrlSum>${CtrlSum}</CtrlSum>`,
      });
    expect((await readFile(document([two('2', '12.60')], header(2, '12.6')))).said).toEqual([]);
    expect((await readFile(document([two('02', '+12.600')], header(2, '12.60000')))).said).toEqual([]);
    expect((await readFile(document([two('1', '12.61')], header(3, '1e1')))).said).toEqual([
      `error ${AT}/PmtInf[1]/NbOfTxs: NbOfTxs is "1", but there are 2 payments`,
      `error ${AT}/PmtInf[1]/CtrlSum: CtrlSum is "12.61", but the sum of the payments is 12.60`,
      `error ${AT}/GrpHdr/NbOfTxs: NbOfTxs is "3", but there are 2 payments`,
      `error ${AT}/GrpHdr/CtrlSum: CtrlSum is "1e1", but the sum of the payments is 12.60`,
    ]);
  });

  test.each([
    ['x2', null],
    ['2x', null],
    ['1234567890123456', null],
    ['', null],
    ['1.0', null],
    ['1e0', null],
    ['002', 2],
  ])('whose header says that it has %j payments', async (count, taken) => {
    const header = `<MsgId>M-1</MsgId><NbOfTxs>${count}</NbOfTxs><CtrlSum>1e1</CtrlSum>`;
    const { source, said } = await readFile(document([information([transaction()])], header));
    expect(source).toEqual({ format: 'pain.001.001.09', messageId: 'M-1', count: taken, sum: null });
    expect(said).toEqual([
      `error ${AT}/GrpHdr/NbOfTxs: NbOfTxs is ${JSON.stringify(count)}, but there is 1 payment`,
      `error ${AT}/GrpHdr/CtrlSum: CtrlSum is "1e1", but the sum of the payments is 12.50`,
    ]);
  });

  test.each(['-13', '1.3e1', '13.', '.13', 'x13', '13x', '13.0x', '', '1300000000000000000'])(
    'may not have the sum %j',
    async (sum) => {
      const payments = information([paid('E-1', '13')], { CtrlSum: `<CtrlSum>${sum}</CtrlSum>` });
      expect((await readFile(document([payments]))).said).toEqual([
        `error ${AT}/PmtInf[1]/CtrlSum: CtrlSum is ${JSON.stringify(sum)}, but the sum of the payments is 13.00`,
      ]);
    },
  );

  test('compares each PmtInf with its own payments alone, and the header with all', async () => {
    const one = (name: string, sums: string) =>
      information([paid(name, name)], {
        NbOfTxs: '<NbOfTxs>1</NbOfTxs>',
        CtrlSum: `<CtrlSum>${sums}</CtrlSum>`,
      });
    const header = '<MsgId>M-1</MsgId><NbOfTxs>2</NbOfTxs><CtrlSum>3</CtrlSum>';
    expect((await readFile(document([one('1', '1'), one('2', '2')], header))).said).toEqual([]);
    expect((await readFile(document([one('1', '1'), one('2', '3')], header))).said).toEqual([
      `error ${AT}/PmtInf[2]/CtrlSum: CtrlSum is "3", but the sum of the payments is 2.00`,
    ]);
  });

  test('without a header, or with one at its end, is wrong', async () => {
    const plain = document([information([transaction()])]);
    const header = `<GrpHdr>${plain.split('<GrpHdr>')[1]?.split('</GrpHdr>')[0]}</GrpHdr>`;
    const message = `error ${AT}/PmtInf[1]: GrpHdr is missing before it`;
    const without = await readFile(plain.replace(header, ''));
    expect(without).toMatchObject({ source: null, said: [message] });
    const late = plain.replace(header, '').replace('</PmtInf>', `</PmtInf>${header}`);
    expect((await readFile(late)).said).toEqual([message]);
  });

  test.each(['M'.repeat(36), ''])('with the id %j is wrong', async (id) => {
    const header = `<MsgId>${id}</MsgId><NbOfTxs>1</NbOfTxs>`;
    expect((await readFile(document([information([transaction()])], header))).said).toEqual([
      `error ${AT}/GrpHdr/MsgId: The id does not have 1 to 35 characters`,
    ]);
  });

  test('whose PmtInf has no payments is wrong, and is checked all the same', async () => {
    const { said, lines } = await readFile(
      document([information([], { PmtMtd: '' }), information([transaction()])]),
    );
    expect(said).toEqual([
      `error ${AT}/PmtInf[1]/PmtMtd: The element is missing`,
      `error ${AT}/PmtInf[1]: PmtInf has no payments`,
    ]);
    expect(lines).toHaveLength(1);
  });

  test('whose PmtInf says something after its payments is wrong', async () => {
    const late = information([transaction()]).replace('</PmtInf>', '<ChrgBr>SLEV</ChrgBr></PmtInf>');
    expect((await readFile(document([late]))).said).toEqual([
      `error ${AT}/PmtInf[1]: PmtInf has elements after its payments. They must come before`,
    ]);
  });

  test('with a wrong PmtInf gives none of its payments, and checks them all the same', async () => {
    const { lines, problems } = await readFile(
      document([information([paid('E-1', '0'), transaction()], { PmtMtd: '<PmtMtd>CHK</PmtMtd>' })]),
    );
    expect(lines).toEqual([]);
    expect(problems.map(({ line, place }) => [line, place])).toEqual([
      [null, `${AT}/PmtInf[1]/PmtMtd`],
      [1, `${FIRST}/Amt/InstdAmt`],
    ]);
  });

  test.each([1, 2])(
    'whose payments are wrong in %i PmtInf, with a warning after it, is not without any',
    async (count) => {
      const noted = transaction({ rest: '<Purp><Cd>SALA</Cd></Purp>' });
      const wrong = information([noted], { PmtMtd: '<PmtMtd>CHK</PmtMtd>' });
      const { lines, said } = await readFile(document(Array<string>(count).fill(wrong)));
      expect(lines).toEqual([]);
      expect(said).toEqual(
        [1, 2]
          .slice(0, count)
          .flatMap((nth) => [
            `error ${AT}/PmtInf[${nth}]/PmtMtd: psd2 cannot pay with "CHK", only with a transfer (TRF)`,
            `warning ${AT}/PmtInf[${nth}]/CdtTrfTxInf[1]/Purp: psd2 pays without the purpose`,
          ]),
      );
    },
  );

  test('numbers its payments through all of its PmtInf, those that are wrong too', async () => {
    const wrong = (id: string) => paid(id, '0');
    const noted = (id: string) =>
      transaction({ id: `<EndToEndId>${id}</EndToEndId>`, rest: '<Purp><Cd>SALA</Cd></Purp>' });
    const { lines, problems } = await readFile(
      document([
        information([paid('E-1', '1'), wrong('E-2')]),
        information([wrong('E-3'), noted('E-4'), paid('E-1', '2')], {
          BtchBookg: '<BtchBookg>x</BtchBookg>',
        }),
        information([noted('E-6'), paid('E-7', '7')]),
      ]),
    );
    expect(lines.map(({ line, place }) => [line, place])).toEqual([
      [1, FIRST],
      [6, `${AT}/PmtInf[3]/CdtTrfTxInf[1]`],
      [7, `${AT}/PmtInf[3]/CdtTrfTxInf[2]`],
    ]);
    expect(problems.map(({ severity, line, place, fileLine }) => [severity, line, place, fileLine])).toEqual([
      ['error', 2, `${AT}/PmtInf[1]/CdtTrfTxInf[2]/Amt/InstdAmt`, 4],
      ['error', null, `${AT}/PmtInf[2]/BtchBookg`, 5],
      ['error', 3, `${AT}/PmtInf[2]/CdtTrfTxInf[1]/Amt/InstdAmt`, 5],
      ['warning', 4, `${AT}/PmtInf[2]/CdtTrfTxInf[2]/Purp`, 5],
      ['warning', 6, `${AT}/PmtInf[3]/CdtTrfTxInf[1]/Purp`, 6],
    ]);
  });
});
