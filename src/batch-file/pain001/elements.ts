import type { BatchFormat } from '../../domain/batch/line.ts';

/**
 * What psd2 does with an element of pain.001:
 *
 * - `text`: it reads the text.
 * - `skip`: it needs nothing of it, because it changes neither what is paid nor what the payee gets.
 * - `refuse`: it cannot pay what the element says.
 * - `leave out`: it pays without it, and says so.
 */
export type Rule =
  | { does: 'text'; attribute?: string; isRepeated?: true }
  | { does: 'skip' }
  | { does: 'refuse'; why: string }
  | { does: 'leave out'; what: string }
  | { does: 'hold'; children: ReadonlyMap<string, Rule> };

const text: Rule = { does: 'text' };
const skip: Rule = { does: 'skip' };
const refuse = (why: string): Rule => ({ does: 'refuse', why });
const leaveOut = (what: string): Rule => ({ does: 'leave out', what });
const hold = (children: Record<string, Rule>): Rule => ({
  does: 'hold',
  children: new Map(Object.entries(children)),
});

const code = hold({ Cd: text, Prtry: text });
const ultimate = refuse('psd2 cannot name an ultimate debtor or creditor');
const agents = refuse('psd2 cannot send a payment over other banks');
const otherCharges = refuse('psd2 cannot say who bears the charges');
const instructions = refuse('psd2 cannot give a bank instructions');

/** Only town, country and the parts that every bank takes are kept. */
const address = hold({
  Ctry: text,
  TwnNm: text,
  PstCd: text,
  StrtNm: text,
  BldgNb: text,
  AdrLine: { does: 'text', isRepeated: true },
  AdrTp: skip,
  ...Object.fromEntries(
    [
      'Dept',
      'SubDept',
      'BldgNm',
      'Flr',
      'PstBx',
      'Room',
      'TwnLctnNm',
      'DstrctNm',
      'CtrySubDvsn',
      'CareOf',
      'UnitNb',
    ].map((name) => [name, leaveOut('this part of the address')]),
  ),
});

const account = hold({
  Id: hold({ IBAN: text, Othr: hold({ Id: text, SchmeNm: skip, Issr: skip }) }),
  Tp: skip,
  Ccy: text,
  Nm: skip,
  Prxy: refuse('psd2 cannot pay to or from an alias'),
});

const paymentType = hold({
  InstrPrty: text,
  SvcLvl: code,
  LclInstrm: code,
  CtgyPurp: leaveOut('the category purpose'),
});

const transaction = hold({
  PmtId: hold({ InstrId: text, EndToEndId: text, UETR: skip }),
  PmtTpInf: paymentType,
  Amt: hold({
    InstdAmt: { does: 'text', attribute: 'Ccy' },
    EqvtAmt: refuse('psd2 cannot exchange currencies'),
  }),
  XchgRateInf: refuse('psd2 cannot exchange currencies'),
  ChrgBr: text,
  MndtRltdInf: refuse('psd2 cannot send a mandate'),
  ChqInstr: refuse('psd2 cannot pay with a cheque'),
  UltmtDbtr: ultimate,
  IntrmyAgt1: agents,
  IntrmyAgt1Acct: agents,
  IntrmyAgt2: agents,
  IntrmyAgt2Acct: agents,
  IntrmyAgt3: agents,
  IntrmyAgt3Acct: agents,
  // The IBAN names the bank (Regulation (EU) 260/2012, Article 5 (7)).
  CdtrAgt: skip,
  CdtrAgtAcct: agents,
  Cdtr: hold({
    Nm: text,
    PstlAdr: address,
    Id: leaveOut("the payee's id"),
    CtryOfRes: leaveOut("the payee's country of residence"),
    CtctDtls: leaveOut("the payee's contact details"),
  }),
  CdtrAcct: account,
  UltmtCdtr: ultimate,
  InstrForCdtrAgt: instructions,
  InstrForDbtrAgt: instructions,
  Purp: leaveOut('the purpose'),
  RgltryRptg: refuse('psd2 cannot send a regulatory report'),
  Tax: refuse('psd2 cannot send tax information'),
  RltdRmtInf: refuse('psd2 cannot send remittance information in another place'),
  RmtInf: hold({
    Ustrd: text,
    Strd: hold({
      CdtrRefInf: hold({ Tp: hold({ CdOrPrtry: code, Issr: text }), Ref: text }),
      ...Object.fromEntries(
        ['RfrdDocInf', 'RfrdDocAmt', 'Invcr', 'Invcee', 'TaxRmt', 'GrnshmtRmt', 'AddtlRmtInf'].map((name) => [
          name,
          refuse("of structured remittance information, psd2 can send the payee's reference alone"),
        ]),
      ),
    }),
  }),
  SplmtryData: refuse('psd2 cannot send supplementary data'),
});

const information = (format: BatchFormat) =>
  hold({
    PmtInfId: text,
    PmtMtd: text,
    BtchBookg: text,
    NbOfTxs: text,
    CtrlSum: text,
    PmtTpInf: paymentType,
    ReqdExctnDt: format.endsWith('.03') ? text : hold({ Dt: text, DtTm: text }),
    PoolgAdjstmntDt: refuse('psd2 cannot ask for a pooling date'),
    ReqdAdvcTp: leaveOut('the advice of the payment'),
    AddtlDtTm: refuse('psd2 cannot ask for other days than that of the execution'),
    // The debtor's bank knows the debtor.
    Dbtr: hold({ Nm: skip, PstlAdr: address, Id: skip, CtryOfRes: skip, CtctDtls: skip }),
    DbtrAcct: account,
    DbtrAgt: skip,
    DbtrAgtAcct: skip,
    InstrForDbtrAgt: instructions,
    UltmtDbtr: ultimate,
    ChrgBr: text,
    ChrgsAcct: otherCharges,
    ChrgsAcctAgt: otherCharges,
    CdtTrfTxInf: transaction,
  });

/**
 * The elements whose texts psd2 collects. Each is complete before the next payment begins, apart from `PmtInf`, whose payments
 * come last.
 */
const COLLECTED = ['GrpHdr', 'PmtInf', 'CdtTrfTxInf'] as const;
export type Collected = (typeof COLLECTED)[number];

/** A rule at its place in the document. */
export interface Placed {
  rule: Rule;
  /** Its path in the element that collects it, for example `CdtrAcct/Id/IBAN`. Empty: it is that element. */
  at: string;
  /** The element whose texts are collected, if it is one. */
  collects: Collected | null;
  children: ReadonlyMap<string, Placed>;
}

/** `Document`, the root, with all elements in it. psd2 refuses elements that are not here. */
export function documentOf(format: BatchFormat): Placed {
  const root = hold({
    CstmrCdtTrfInitn: hold({
      GrpHdr: hold({
        MsgId: text,
        CreDtTm: skip,
        Authstn: skip,
        NbOfTxs: text,
        CtrlSum: text,
        InitgPty: skip,
        FwdgAgt: skip,
        InitnSrc: skip,
      }),
      PmtInf: information(format),
      SplmtryData: refuse('psd2 cannot send supplementary data'),
    }),
  });
  return placed(root, 'Document', '');
}

function placed(rule: Rule, name: string, above: string): Placed {
  const collects = COLLECTED.find((collected) => collected === name) ?? null;
  const at = collects ? '' : above === '' ? name : `${above}/${name}`;
  const children = rule.does === 'hold' ? [...rule.children] : [];
  return {
    rule,
    at,
    collects,
    children: new Map(children.map(([child, below]) => [child, placed(below, child, at)])),
  };
}
