import { describe, expect, test } from 'vitest';
import { document, IBAN, information, readFile, transaction } from '../reading.ts';

const AT = '/Document/CstmrCdtTrfInitn';
const GROUP = `${AT}/PmtInf[1]`;
const FIRST = `${GROUP}/CdtTrfTxInf[1]`;
const HEADER = '<MsgId>M-1</MsgId><NbOfTxs>1</NbOfTxs>';
const TOWN = '<TwnNm>Roma</TwnNm><Ctry>IT</Ctry>';

/** Returns elements, each with an element in it and a text. */
function elements(...names: string[]): string {
  return names.map((name) => `<${name}><Deep><Deeper>1</Deeper></Deep> and a text</${name}>`).join('');
}

/** Returns the payee's elements. @param parts of `Cdtr` after its name. @param account after its `Id` */
function payee(parts: string, account = ''): string {
  return `<Cdtr><Nm>Ada Lovelace</Nm>${parts}</Cdtr><CdtrAcct><Id><IBAN>${IBAN}</IBAN></Id>${account}</CdtrAcct>`;
}

describe('a pain.001', () => {
  test('is paid with everything that changes neither the payment nor what the payee gets', async () => {
    const payment = transaction({
      id: `<EndToEndId>E-1</EndToEndId>${elements('UETR')}`,
      payee: payee('', `${elements('Tp', 'Nm')}<Ccy>EUR</Ccy>`),
      rest: `<ChrgBr>SLEV</ChrgBr>${elements('CdtrAgt')}`,
    });
    const { said, lines } = await readFile(
      document(
        [
          information([payment], {
            BtchBookg: '<BtchBookg>false</BtchBookg>',
            NbOfTxs: '<NbOfTxs>1</NbOfTxs>',
            CtrlSum: '<CtrlSum>12.5</CtrlSum>',
            PmtTpInf:
              '<PmtTpInf><InstrPrty>NORM</InstrPrty><SvcLvl><Prtry>SEPA</Prtry></SvcLvl><LclInstrm><Prtry>INST</Prtry></LclInstrm></PmtTpInf>',
            Dbtr: `<Dbtr>${elements('Nm', 'Id', 'CtryOfRes', 'CtctDtls')}<PstlAdr>${TOWN}${elements('AdrTp')}</PstlAdr></Dbtr>`,
            DbtrAcct: `<DbtrAcct><Id><Othr><Id>0000012345</Id>${elements('SchmeNm', 'Issr')}</Othr></Id>${elements('Tp', 'Nm')}<Ccy>EUR</Ccy></DbtrAcct>`,
            DbtrAgt: elements('DbtrAgt', 'DbtrAgtAcct'),
          }),
        ],
        `${HEADER}${elements('CreDtTm', 'Authstn', 'InitgPty', 'FwdgAgt', 'InitnSrc')}`,
      ),
    );
    expect(said).toEqual([]);
    expect(lines).toMatchObject([
      { from: '0000012345', amount: '12.50', reference: 'E-1', instant: true, urgent: false, address: null },
    ]);
  });

  test('is paid without what a bank takes no part of, and psd2 names each of it', async () => {
    const parts = ['Dept', 'SubDept', 'BldgNm', 'Flr', 'PstBx', 'Room', 'TwnLctnNm', 'DstrctNm'];
    parts.push('CtrySubDvsn', 'CareOf', 'UnitNb');
    const address = `<PstlAdr>${TOWN}${elements(...parts)}</PstlAdr>`;
    const { said, lines } = await readFile(
      document([
        information([
          transaction({
            payee: payee(`${address}${elements('Id', 'CtryOfRes', 'CtctDtls')}`),
            rest: `<PmtTpInf>${elements('CtgyPurp')}</PmtTpInf>${elements('Purp')}`,
          }),
        ]),
      ]),
    );
    expect(lines).toHaveLength(1);
    expect(said).toEqual([
      ...parts.map(
        (part) => `warning ${FIRST}/Cdtr/PstlAdr/${part}: psd2 pays without this part of the address`,
      ),
      `warning ${FIRST}/Cdtr/Id: psd2 pays without the payee's id`,
      `warning ${FIRST}/Cdtr/CtryOfRes: psd2 pays without the payee's country of residence`,
      `warning ${FIRST}/Cdtr/CtctDtls: psd2 pays without the payee's contact details`,
      `warning ${FIRST}/PmtTpInf/CtgyPurp: psd2 pays without the category purpose`,
      `warning ${FIRST}/Purp: psd2 pays without the purpose`,
    ]);
  });

  test.each([
    ['UltmtDbtr', 'psd2 cannot name an ultimate debtor or creditor'],
    ['UltmtCdtr', 'psd2 cannot name an ultimate debtor or creditor'],
    ['XchgRateInf', 'psd2 cannot exchange currencies'],
    ['MndtRltdInf', 'psd2 cannot send a mandate'],
    ['ChqInstr', 'psd2 cannot pay with a cheque'],
    ['IntrmyAgt1', 'psd2 cannot send a payment over other banks'],
    ['IntrmyAgt1Acct', 'psd2 cannot send a payment over other banks'],
    ['IntrmyAgt2', 'psd2 cannot send a payment over other banks'],
    ['IntrmyAgt2Acct', 'psd2 cannot send a payment over other banks'],
    ['IntrmyAgt3', 'psd2 cannot send a payment over other banks'],
    ['IntrmyAgt3Acct', 'psd2 cannot send a payment over other banks'],
    ['CdtrAgtAcct', 'psd2 cannot send a payment over other banks'],
    ['InstrForCdtrAgt', 'psd2 cannot give a bank instructions'],
    ['InstrForDbtrAgt', 'psd2 cannot give a bank instructions'],
    ['RgltryRptg', 'psd2 cannot send a regulatory report'],
    ['Tax', 'psd2 cannot send tax information'],
    ['RltdRmtInf', 'psd2 cannot send remittance information in another place'],
    ['SplmtryData', 'psd2 cannot send supplementary data'],
  ])('whose payment has a %s is refused, and says why', async (name, why) => {
    const { problems } = await readFile(document([information([transaction({ rest: elements(name) })])]));
    expect(problems).toEqual([
      { severity: 'error', line: 1, fileLine: 4, place: `${FIRST}/${name}`, message: why },
    ]);
  });

  test.each([
    ['InstrForDbtrAgt', 'psd2 cannot give a bank instructions'],
    ['UltmtDbtr', 'psd2 cannot name an ultimate debtor or creditor'],
    ['PoolgAdjstmntDt', 'psd2 cannot ask for a pooling date'],
    ['ChrgsAcct', 'psd2 cannot say who bears the charges'],
    ['ChrgsAcctAgt', 'psd2 cannot say who bears the charges'],
  ])('whose PmtInf has a %s is refused, and says why', async (name, why) => {
    const { problems } = await readFile(document([information([transaction()], { [name]: elements(name) })]));
    expect(problems).toEqual([
      { severity: 'error', line: null, fileLine: 4, place: `${GROUP}/${name}`, message: why },
    ]);
  });

  test('with an alias for an account, another currency or structured remittance information is refused', async () => {
    const { said } = await readFile(
      document([
        information(
          [
            transaction({
              amount: `<InstdAmt Ccy="EUR">12.50</InstdAmt>${elements('EqvtAmt')}`,
              payee: payee('', elements('Prxy')),
              rest: `<RmtInf><Strd>${elements('RfrdDocInf')}</Strd></RmtInf>`,
            }),
          ],
          {
            DbtrAcct: `<DbtrAcct><Id><IBAN>${IBAN}</IBAN></Id>${elements('Prxy')}</DbtrAcct>`,
          },
        ),
      ]).replace('</CstmrCdtTrfInitn>', `${elements('SplmtryData')}</CstmrCdtTrfInitn>`),
    );
    expect(said).toEqual([
      `error ${GROUP}/DbtrAcct/Prxy: psd2 cannot pay to or from an alias`,
      `error ${FIRST}/Amt/EqvtAmt: psd2 cannot exchange currencies`,
      `error ${FIRST}/CdtrAcct/Prxy: psd2 cannot pay to or from an alias`,
      `error ${FIRST}/RmtInf/Strd/RfrdDocInf: of structured remittance information, psd2 can send the payee's reference alone`,
      `error ${FIRST}/RmtInf/Strd/CdtrRefInf/Ref: The element is missing`,
      `error ${AT}/SplmtryData: psd2 cannot send supplementary data`,
    ]);
  });

  test.each(['RfrdDocInf', 'RfrdDocAmt', 'Invcr', 'Invcee', 'TaxRmt', 'GrnshmtRmt', 'AddtlRmtInf'])(
    'whose structured remittance information has a %s is refused, and says why',
    async (name) => {
      const why = "of structured remittance information, psd2 can send the payee's reference alone";
      const rest = `<RmtInf><Strd>${elements(name)}<CdtrRefInf><Ref>RF18539007547034</Ref></CdtrRefInf></Strd></RmtInf>`;
      const { said, lines } = await readFile(document([information([transaction({ rest })])]));
      expect(said).toEqual([`error ${FIRST}/RmtInf/Strd/${name}: ${why}`]);
      expect(lines).toHaveLength(1);
    },
  );

  test('with an element at the place of another one is refused', async () => {
    const { said } = await readFile(
      document(
        [
          information([transaction({ rest: elements('MsgId') })], {
            Strange: elements('Cdtr'),
            ReqdExctnDt: '<ReqdExctnDt><Dt>2026-12-01</Dt><Day/></ReqdExctnDt>',
          }),
        ],
        `${HEADER}${elements('PmtInfId')}`,
      ),
    );
    expect(said).toEqual([
      `error ${AT}/GrpHdr/PmtInfId: psd2 does not know this element`,
      `error ${GROUP}/ReqdExctnDt/Day: psd2 does not know this element`,
      `error ${GROUP}/Cdtr: psd2 does not know this element`,
      `error ${FIRST}/MsgId: psd2 does not know this element`,
    ]);
  });
});
