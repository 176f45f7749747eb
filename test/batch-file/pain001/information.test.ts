import { describe, expect, test } from 'vitest';
import { document, information, readFile, transaction } from '../reading.ts';

const AT = '/Document/CstmrCdtTrfInitn';
const GROUP = `${AT}/PmtInf[1]`;
const TIME = 'at no time of the day';
const NO_PLACE =
  'The address lacks town (TwnNm) and country (Ctry), so SEPA forbids it since 15 November 2026';

/** Reads a document of one payment whose PmtInf has these elements. */
function readWith(changes: Record<string, string>, version?: string) {
  return readFile(document([information([transaction()], changes)], undefined, version));
}

/** Reads it with this day of execution. */
const readDay = (day: string, version?: string) =>
  readWith({ ReqdExctnDt: `<ReqdExctnDt>${day}</ReqdExctnDt>` }, version);

test.each([
  ['1999-01-01', '03'],
  ['1999-01-01Z', '03'],
  ['<Dt>1999-01-01</Dt>', '09'],
  ['<DtTm>1999-01-01T00:00:00</DtTm>', '12'],
])('the day %s of a German program means at once, with a warning', async (day, version) => {
  const { lines, said } = await readDay(day, version);
  expect(said).toEqual([
    `warning ${GROUP}/ReqdExctnDt: The day 1999-01-01 means as soon as possible: psd2 orders the payments for the day on which it pays them`,
  ]);
  expect(lines).toMatchObject([{ executionDate: null }]);
});

describe('the PmtInf of a pain.001', () => {
  const PAST = 'The date 2026-11-22 is in the past: at the bank it is 2026-11-23';
  test.each([
    ['PmtMtd', 'CHK', 'psd2 cannot pay with "CHK", only with a transfer (TRF)'],
    ['PmtTpInf/InstrPrty', 'LOW', 'psd2 cannot pay with "LOW": it knows NORM and HIGH'],
    ['PmtTpInf/SvcLvl/Prtry', 'FAST', 'psd2 cannot pay with "FAST": it knows SEPA'],
    ['DbtrAcct', '<Id><Othr><Id>12</Id></Othr></Id>', 'The account id "12" has 2 characters instead of 10'],
    ['Dbtr/PstlAdr', '<AdrLine>Via Roma 1</AdrLine>', NO_PLACE],
    ['PmtInfId', 'P'.repeat(36), 'The id does not have 1 to 35 characters'],
    ['PmtInfId', ' ', 'The id does not have 1 to 35 characters'],
    ['PmtInfId', 'P\n1', 'The id does not have 1 to 35 characters'],
    ['ReqdExctnDt', '<Dt>2026-11-22</Dt>', PAST],
    ['ReqdExctnDt', '<Dt>2026-12-01Z.</Dt>', 'The date "2026-12-01Z." is not a date in the form YYYY-MM-DD'],
    ['ReqdExctnDt', '<Dt>02026-12-01Z</Dt>', 'The date "02026-12-01Z" is not a date in the form YYYY-MM-DD'],
  ])('whose %s is %s is wrong', async (path, inside, message) => {
    const [name = '', ...names] = path.split('/');
    const content = names.reduceRight((within, each) => `<${each}>${within}</${each}>`, inside);
    const { lines, problems } = await readWith({ [name]: `<${name}>${content}</${name}>` });
    expect(lines).toEqual([]);
    expect(problems).toEqual([
      { severity: 'error', line: null, fileLine: 4, place: `${GROUP}/${path}`, message },
    ]);
  });

  test('has all its problems in one reading', async () => {
    const { said, lines } = await readWith({
      PmtInfId: '<PmtInfId/>',
      PmtMtd: '<PmtMtd>TRA</PmtMtd>',
      ReqdExctnDt: '',
      DbtrAcct: `<DbtrAcct><Id/><Ccy>USD</Ccy></DbtrAcct>`,
      BtchBookg: '<BtchBookg>yes</BtchBookg>',
      ChrgBr: '<ChrgBr>SHAR</ChrgBr>',
    });
    expect(lines).toEqual([]);
    expect(said).toEqual([
      `error ${GROUP}/PmtInfId: The id does not have 1 to 35 characters`,
      `error ${GROUP}/PmtMtd: psd2 cannot pay with "TRA", only with a transfer (TRF)`,
      `error ${GROUP}/BtchBookg: "yes" is neither true nor false`,
      `error ${GROUP}/ChrgBr: psd2 cannot pay with "SHAR": it knows SLEV`,
      `error ${GROUP}/DbtrAcct/Ccy: The account is in "USD", and SEPA transfers are in EUR`,
      `error ${GROUP}/DbtrAcct: The account to debit is missing`,
      `error ${GROUP}/ReqdExctnDt: The element is missing`,
    ]);
  });

  test.each([
    ['<BtchBookg>true</BtchBookg>', true],
    ['<BtchBookg> 1 </BtchBookg>', true],
    ['<BtchBookg>false</BtchBookg>', false],
    ['<BtchBookg>0</BtchBookg>', false],
    ['', undefined],
  ])('says how the bank books its payments: %s', async (BtchBookg, expected) => {
    const { lines, said } = await readWith({ BtchBookg });
    expect([said, lines.map(({ batchBooking }) => batchBooking)]).toEqual([[], [expected]]);
  });

  test('may have an id of 35 characters', async () => {
    const id = 'P'.repeat(35);
    const { lines, said } = await readWith({ PmtInfId: `<PmtInfId>${id}</PmtInfId>` });
    expect(said).toEqual([]);
    expect(lines[0]?.ids).toEqual({ paymentInformationId: id, instructionId: null, endToEndId: 'E-1' });
  });

  test.each([
    ['InstrPrty', '<InstrPrty>HIGH</InstrPrty>', { instant: false, urgent: true }],
    ['InstrPrty', '<InstrPrty>NORM</InstrPrty>', { instant: false, urgent: false }],
    ['LclInstrm/Cd', '<LclInstrm><Cd>INST</Cd></LclInstrm>', { instant: true, urgent: false }],
    ['LclInstrm/Prtry', '<LclInstrm><Prtry>INST</Prtry></LclInstrm>', { instant: true, urgent: false }],
    ['SvcLvl/Cd', '<SvcLvl><Cd>SEPA</Cd></SvcLvl>', { instant: false, urgent: false }],
    ['SvcLvl/Prtry', '<SvcLvl><Prtry>SEPA</Prtry></SvcLvl>', { instant: false, urgent: false }],
  ])('says with %s how fast its payments are: %s', async (_path, content, speed) => {
    const { lines, said } = await readWith({ PmtTpInf: `<PmtTpInf>${content}</PmtTpInf>` });
    expect(said).toEqual([]);
    expect(lines).toMatchObject([speed]);
  });

  test.each([
    // Without a zone it is the clock of the bank.
    ['2026-12-01T10:00:00', '2026-12-01'],
    ['2026-12-01T23:59:59.999', '2026-12-01'],
    ['2026-12-01T10:00:00.5+01:00', '2026-12-01'],
    ['2026-12-01T23:30:00.123456Z', '2026-12-02'],
    ['2026-12-02T00:30:00+14:00', '2026-12-01'],
    ['2026-12-01T20:00:00-05:00', '2026-12-02'],
    ['2026-12-01T20:00:00-04:30', '2026-12-02'],
  ])('with the time %s orders its payments for %s, and says so', async (time, day) => {
    const { lines, said } = await readDay(`<DtTm>${time}</DtTm>`);
    expect(lines.map(({ executionDate }) => executionDate)).toEqual([day]);
    expect(said).toEqual([
      `warning ${GROUP}/ReqdExctnDt/DtTm: The bank executes by day: psd2 orders the payments for ${day}, ${TIME}`,
    ]);
  });

  test.each([
    ['that is a day', '2026-12-01'],
    ['without seconds', '2026-12-01T10:00'],
    ['that is no number', '2026-12-01T25:00:00'],
    ['in a month that does not exist', '2026-13-01T10:00:00Z'],
    ['on a day that does not exist', '2027-02-30T10:00:00'],
    ['on a day in a zone that does not exist', '2027-02-30T10:00:00Z'],
    ['with a zone that is none', '2026-12-01T10:00:00 CET'],
    ['with a zone without minutes', '2026-12-01T10:00:00+01'],
    ['with a zone without a colon', '2026-12-01T23:30:00-0500'],
    ['with a small letter as its zone', '2026-12-01T23:30:00z'],
    ['with a point and nothing after it', '2026-12-01T10:00:00.'],
    ['with something before it', 'on 2026-12-01T10:00:00'],
    ['with a year of six digits', '+002026-12-01T10:00:00Z'],
    ['with something after it', '2026-12-01T10:00:00 (noon)'],
    ['that is empty', ''],
  ])('is wrong with a time %s', async (_what, time) => {
    const { lines, said } = await readDay(`<DtTm>${time}</DtTm>`);
    expect(lines).toEqual([]);
    expect(said).toEqual([
      `error ${GROUP}/ReqdExctnDt/DtTm: The time ${JSON.stringify(time)} is not an ISO 8601 time`,
    ]);
  });

  test.each(['2026-12-01Z', '2026-12-01-05:00', '2026-12-01+14:00', '2026-12-01'])(
    'orders %s for that day, whatever its zone',
    async (day) => {
      for (const [version, content] of Object.entries({ '03': day, '09': `<Dt>${day}</Dt>` })) {
        const { lines, said } = await readDay(content, version);
        expect(said).toEqual([]);
        expect(lines.map(({ executionDate }) => executionDate)).toEqual(['2026-12-01']);
      }
    },
  );

  test('has a day in version 03 and an element in version 09, and not the other one', async () => {
    expect((await readDay('2026-12-01', '09')).said).toEqual([
      `error ${GROUP}/ReqdExctnDt: The element has a text, where only elements belong`,
      `error ${GROUP}/ReqdExctnDt: The element is missing`,
    ]);
    expect((await readDay('<Dt>2026-12-01</Dt>', '03')).said).toEqual([
      `error ${GROUP}/ReqdExctnDt/Dt: A text is expected here, and not an element`,
      `error ${GROUP}/ReqdExctnDt: The date "" is not a date in the form YYYY-MM-DD`,
    ]);
  });
});
