import { describe, expect, test } from 'vitest';
import { readPain002 } from '../../../src/batch-file/pain002/read.ts';

/** Returns a pain.002 with these elements. */
function report(content: string, version = '10'): string {
  return `<?xml version="1.0"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.${version}"><CstmrPmtStsRpt>
${content}</CstmrPmtStsRpt></Document>`;
}

/** Returns a group of payments with these parts. */
function group(...parts: string[]): string {
  return `<OrgnlPmtInfAndSts><OrgnlPmtInfId>P-1</OrgnlPmtInfId>${parts.join('\n')}</OrgnlPmtInfAndSts>`;
}

/** Returns what a report says of one payment. */
function entry(id: string, status: string): string {
  return `<TxInfAndSts><StsId>S</StsId><OrgnlEndToEndId>${id}</OrgnlEndToEndId><TxSts>${status}</TxSts><StsRsnInf><Rsn><Cd>AC04</Cd></Rsn></StsRsnInf></TxInfAndSts>`;
}

/** Returns the status of all, and the statuses by id, as plain values. */
function read(text: string): { status: string | null; entries: Record<string, string | null> } | null {
  const found = readPain002(text);
  return (
    found && {
      status: found.status,
      entries: Object.fromEntries([...found.entries].map(([id, { status }]) => [id, status])),
    }
  );
}

const ALL = '<OrgnlGrpInfAndSts><OrgnlMsgId>M-1</OrgnlMsgId><GrpSts> PART </GrpSts></OrgnlGrpInfAndSts>';

const ACSC = '<PmtInfSts>ACSC</PmtInfSts>';

describe('a pain.002', () => {
  test.each(['03', '10', '14'])('of version %s gives the status of all, and of each payment', (version) => {
    const payments = group(entry('E-1', 'ACSC'), entry(' E-2 ', ' RJCT '));
    expect(read(report(`${ALL}${payments}`, version))).toEqual({
      status: 'PART',
      entries: { 'E-1': 'ACSC', 'E-2': 'RJCT' },
    });
  });

  test('of two statuses of one payment gives none, and names the files and groups that it is about', () => {
    const found = readPain002(
      report(`${ALL}${group(entry('E-1', 'ACSC'), entry('E-1', 'RJCT'), entry('E-1', 'ACSC'))}`),
    );
    expect([found?.about, found?.entries.get('E-1')?.status]).toEqual([['M-1', 'P-1'], null]);
  });

  test('gives the reasons of the payment, then those above it, their codes apart from their words', () => {
    const why = (code: string, words: string) =>
      `<StsRsnInf><Orgtr><Id><OrgId><Othr><Id>1</Id><SchmeNm><Cd>BANK</Cd></SchmeNm></Othr><Othr><Id>2</Id><SchmeNm><Prtry>OWN</Prtry></SchmeNm></Othr></OrgId></Id></Orgtr><Rsn>${code}</Rsn><AddtlInf>${words}</AddtlInf></StsRsnInf>`;
    const told = (id: string, reason: string) =>
      `<TxInfAndSts><OrgnlEndToEndId>${id}</OrgnlEndToEndId><TxSts>RJCT</TxSts>${reason}<OrgnlTxRef><PmtTpInf><SvcLvl><Cd>SEPA</Cd></SvcLvl></PmtTpInf></OrgnlTxRef></TxInfAndSts>`;
    const all = `<OrgnlGrpInfAndSts><OrgnlMsgId>M-1</OrgnlMsgId><GrpSts>PART</GrpSts>${why('<Prtry>X9</Prtry>', 'see below')}</OrgnlGrpInfAndSts>`;
    const found = readPain002(
      report(all + group(told('E-1', why('<Cd>AC01</Cd>', 'No such IBAN')), told('E-2', ''))),
    );
    const ofFile = { level: 'file', code: null, proprietary: 'X9', text: 'see below' };
    const own = { level: 'payment', code: 'AC01', proprietary: null, text: 'No such IBAN' };
    expect([found?.reasons, ...['E-1', 'E-2'].map((id) => found?.entries.get(id)?.reasons)]).toEqual([
      [ofFile],
      [own, ofFile],
      [ofFile],
    ]);
    const alone = readPain002(report(ALL + group(told('E-1', why('<Cd>AC01</Cd>', 'No such IBAN')))));
    expect(alone?.reasons).toEqual([own]);
    // Who says it may have a code of its own, which is no reason.
    const unnamed = told('E-1', why('', 'Closed').replace('<Rsn></Rsn>', ''));
    expect(readPain002(report(ALL + group(unnamed)))?.reasons).toEqual([
      { level: 'payment', code: null, proprietary: null, text: 'Closed' },
    ]);
    const three = ['AC01', 'AC04', 'AC06'].map((code) => told(code, why(`<Cd>${code}</Cd>`, code)));
    expect(readPain002(report(ALL + group(...three)))?.reasons).toEqual(
      ['AC01', 'AC04', 'AC06'].map((code) => ({ level: 'payment', code, proprietary: null, text: code })),
    );
  });

  const AC01 = '<Rsn><Cd>AC01</Cd></Rsn>';
  const words = (...texts: string[]) => texts.map((text) => `<AddtlInf>${text}</AddtlInf>`).join('');
  test.each<[what: string, reasons: string[], told: [string | null, string | null, string | null][]]>([
    ['no words', [AC01], [['AC01', null, null]]],
    ['empty words', [AC01 + words('')], [['AC01', null, null]]],
    ['one text', [AC01 + words('No such IBAN')], [['AC01', null, 'No such IBAN']]],
    ['two texts', [AC01 + words('No such', 'IBAN')], [['AC01', null, 'No such IBAN']]],
    ['three texts, one of them empty', [AC01 + words('No', '', 'such')], [['AC01', null, 'No such']]],
    ['words alone', [words('Closed', 'since May')], [[null, null, 'Closed since May']]],
    ["the bank's own code", [`<Rsn><Prtry>X9</Prtry></Rsn>${words('Closed')}`], [[null, 'X9', 'Closed']]],
    [
      'two reasons, of which each has its own words',
      [AC01 + words('One', 'more'), `<Rsn><Cd>AC04</Cd></Rsn>${words('Two')}`],
      [
        ['AC01', null, 'One more'],
        ['AC04', null, 'Two'],
      ],
    ],
    [
      'a reason without words after one with words',
      [AC01 + words('One'), '<Rsn><Cd>AC04</Cd></Rsn>'],
      [
        ['AC01', null, 'One'],
        ['AC04', null, null],
      ],
    ],
  ])('gives a reason with %s', (_what, reasons, told) => {
    const why = reasons.map((reason) => `<StsRsnInf>${reason}</StsRsnInf>`).join('');
    const payment = `<TxInfAndSts><OrgnlEndToEndId>E-1</OrgnlEndToEndId><TxSts>RJCT</TxSts>${why}</TxInfAndSts>`;
    // The next one has none of them.
    const found = readPain002(report(group(payment, entry('E-2', 'RJCT').replace(/<StsRsnInf.*Inf>/, ''))));
    expect(found?.entries.get('E-1')?.reasons).toEqual(
      told.map(([code, proprietary, text]) => ({ level: 'payment', code, proprietary, text })),
    );
    expect(found?.entries.get('E-2')?.reasons).toEqual([]);
  });

  test('of two groups gives the reasons of each to its payments, and those of both for all', () => {
    const of = (name: string, code: string) =>
      group(`<StsRsnInf><Rsn><Cd>${code}</Cd></Rsn></StsRsnInf>`, told(name)).replace('P-1', name);
    const told = (id: string) =>
      `<TxInfAndSts><OrgnlEndToEndId>${id}</OrgnlEndToEndId><TxSts>RJCT</TxSts></TxInfAndSts>`;
    const because = (code: string) => ({ level: 'group', code, proprietary: null, text: null });
    const found = readPain002(report(ALL + of('E-1', 'AC01') + of('E-2', 'AC04') + group(told('E-3'))));
    const [one, two] = [because('AC01'), because('AC04')];
    expect(found?.reasons).toEqual([one, two]);
    expect(['E-1', 'E-2', 'E-3'].map((id) => found?.entries.get(id)?.reasons)).toEqual([[one], [two], []]);
  });

  test('is read with prefixes, references of characters and comments', () => {
    const plain = report(`${ALL}${group(entry('E-1', 'ACSC'))}`);
    const other = plain
      .replace(/<(\/?)([A-Z])/g, '<$1p:$2')
      .replace('xmlns=', 'xmlns:p=')
      .replace('ACSC', 'AC<!-- settled -->&#83;C');
    expect(read(other)).toEqual(read(plain));
  });

  test.each([
    ['of the message before that of a group', `${ALL}${group('<PmtInfSts>RJCT</PmtInfSts>')}`, 'PART'],
    ['of the only group', group('<PmtInfSts> RJCT </PmtInfSts>'), 'RJCT'],
    ['of none of two groups', group(ACSC) + group(ACSC).replace('P-1', 'P-2'), null],
    ['of one group in two parts', group(ACSC).repeat(2), 'ACSC'],
    ['of nothing', group(entry('E-1', 'ACSC')), null],
    ['that is empty', '<OrgnlGrpInfAndSts><GrpSts> </GrpSts></OrgnlGrpInfAndSts>', null],
  ])('gives the status %s', (_what, content, status) => {
    expect(read(report(content))?.status).toBe(status);
  });

  const ofFile = (...statuses: string[]) =>
    `<OrgnlGrpInfAndSts>${statuses.map((status) => `<GrpSts>${status}</GrpSts>`).join('')}</OrgnlGrpInfAndSts>`;
  const ofGroup = (...statuses: string[]) =>
    group(...statuses.map((status) => `<PmtInfSts>${status}</PmtInfSts>`));
  test.each([
    [ofFile('RJCT') + ofGroup('ACSC'), 'GrpSts RJCT and PmtInfSts ACSC'],
    [ofFile('RJCT') + group(entry('E-1', 'RJCT'), entry('E-2', 'PDNG')), 'GrpSts RJCT and TxSts PDNG'],
    [ofFile('CANC') + ofGroup('RJCT'), 'GrpSts CANC and PmtInfSts RJCT'],
    [ofFile('ACSC') + ofGroup('RJCT'), 'GrpSts ACSC and PmtInfSts RJCT'],
    [ofFile('ACSC') + group(entry('E-1', 'RJCT')), 'GrpSts ACSC and TxSts RJCT'],
    [ofFile('ACSC') + entry('E-1', 'RJCT'), 'GrpSts ACSC and TxSts RJCT'],
    [ofFile('ACTC') + group(entry('E-1', 'CANC')), 'GrpSts ACTC and TxSts CANC'],
    [ofFile('RCVD') + group(entry('E-1', 'RJCT')), 'GrpSts RCVD and TxSts RJCT'],
    [ofFile('ACCC') + ofGroup('PART'), 'GrpSts ACCC and PmtInfSts PART'],
    [ofFile('ACSC') + group(entry('E-1', 'RCVD')), 'GrpSts ACSC and TxSts RCVD'],
    [ofGroup('ACSC') + group(entry('E-1', 'RJCT')), 'PmtInfSts ACSC and TxSts RJCT'],
    [ofGroup('RJCT', 'ACSC'), 'PmtInfSts RJCT and PmtInfSts ACSC'],
    [ofGroup('RJCT') + ofGroup('ACSC'), 'PmtInfSts RJCT and PmtInfSts ACSC'],
    [ofFile('RJCT', 'ACSC'), 'GrpSts RJCT and GrpSts ACSC'],
    [ofFile('ACSC', 'ACSC'), 'GrpSts ACSC and GrpSts ACSC'],
    [ofFile('ACSC') + ofFile(), 'OrgnlGrpInfAndSts 2 times'],
    [
      ofFile('ACSC') + ofGroup('RJCT') + ofGroup('ACSC').replace('P-1', 'P-2'),
      'GrpSts ACSC and PmtInfSts RJCT',
    ],
    [
      ofFile('ACSC') + ofGroup('ACSC') + ofGroup('RJCT').replace('P-1', 'P-2'),
      'GrpSts ACSC and PmtInfSts RJCT',
    ],
  ])('that contradicts itself says nothing: %s', (content, contradiction) => {
    const found = { about: expect.anything(), status: null, reasons: [], entries: new Map(), contradiction };
    expect(readPain002(report(content))).toEqual(found);
  });

  test.each([
    ofFile('RJCT') + group('<PmtInfSts>RJCT</PmtInfSts>', entry('E-1', 'RJCT')),
    ofFile('PART') + group(entry('E-1', 'RJCT'), entry('E-2', 'ACSC'), entry('E-3', 'PDNG')),
    ofFile('PART') + ofGroup('RJCT') + ofGroup('ACSC').replace('P-1', 'P-2'),
    ofFile('ACSP') + group(ACSC, entry('E-1', 'ACCC')),
    ofFile('ACSC') + group(entry('E-1', 'ACWC')),
    ofFile('PDNG') + group(entry('E-1', 'ACSC')),
    ofFile('RCVD') + ofGroup('RCVD'),
    ofGroup('RJCT') + group('<PmtInfSts>ACSC</PmtInfSts>').replace('P-1', 'P-2'),
  ])('can be true: %s', (content) => {
    expect(readPain002(report(content))?.contradiction).toBeNull();
  });

  test.each([
    [
      'two ids',
      '<OrgnlEndToEndId>E-1</OrgnlEndToEndId><OrgnlEndToEndId>E-2</OrgnlEndToEndId><TxSts>ACSC</TxSts>',
    ],
    ['two statuses', '<OrgnlEndToEndId>E-1</OrgnlEndToEndId><TxSts>ACSC</TxSts><TxSts>RJCT</TxSts>'],
  ])('says nothing of a payment with %s', (_what, content) => {
    const found = read(report(group(`<TxInfAndSts>${content}</TxInfAndSts>`)))?.entries;
    expect(Object.values(found ?? {}).every((status) => status === null)).toBe(true);
  });

  test.each([
    ['without an id', '<TxInfAndSts><TxSts>ACSC</TxSts></TxInfAndSts>'],
    ['without a status', '<TxInfAndSts><OrgnlEndToEndId>E-9</OrgnlEndToEndId></TxInfAndSts>'],
    ['with nothing', '<TxInfAndSts/>'],
    ['in another one', '<TxInfAndSts><TxInfAndSts/></TxInfAndSts>'],
    ['outside of a payment', '<OrgnlEndToEndId>E-9</OrgnlEndToEndId><TxSts>ACSC</TxSts>'],
  ])('says nothing of a payment %s, and takes nothing of it for the next one', (_what, content) => {
    const found = read(report(group(content, entry('E-1', 'RJCT'), content)))?.entries;
    expect(found).toStrictEqual({ 'E-1': 'RJCT' });
    const half = '<TxInfAndSts><OrgnlEndToEndId>E-2</OrgnlEndToEndId></TxInfAndSts>';
    expect(read(report(group(content, half)))?.entries).toStrictEqual({});
  });

  test.each([
    ['no XML', 'RJCT'],
    ['nothing', ''],
    ['another document', '<html/>'],
    ['another message', report('').replaceAll('pain.002', 'pain.001')],
    ['another namespace', report('').replace('urn:iso', 'urn:other:urn:iso')],
    ['another root in its namespace', report('').replaceAll('Document', 'Doc')],
    ['a document that ends in the middle', report(group(entry('E-1', 'ACSC'))).slice(0, -5)],
    ['a document with an unknown entity', report(group(entry('E-1', '&status;')))],
    ['a document with a DOCTYPE', report(ALL).replace('<Document', '<!DOCTYPE Document><Document')],
    ['a prefix that nobody declares', report('<x:GrpSts>ACSC</x:GrpSts>')],
  ])('is not %s', (_what, text) => {
    expect(readPain002(text)).toBeNull();
  });

  test('has at most 50 million characters', () => {
    expect(readPain002(report(ALL).padEnd(50_000_001, ' '))).toBeNull();
  });
});
