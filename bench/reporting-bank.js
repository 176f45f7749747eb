// A NextGenPSD2 bank that has the same transactions as JSON (account `json`) and as camt.053 (account `camt`), in pages: node
// reporting-bank.js <folder> <rows> <rows of a page>. It checks nothing. It prints its port.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';

const [folder = '', rows = '0', page = '1'] = process.argv.slice(2);
const IBAN = 'DE89370400440532013000';
const PAYEE = 'DE02100100109307118603';
const DAY = new Date(Date.now() - 7 * 86_400_000).toISOString().slice(0, 10);

const numbers = Array.from({ length: Number(rows) }, (_, index) => index);
const pages = Array.from({ length: Number(rows) / Number(page) + 1 }, (_, number) =>
  numbers.slice(number * Number(page), (number + 1) * Number(page)),
);
const amountOf = (index) => `${Math.floor(index / 100) + 1}.${String(index % 100).padStart(2, '0')}`;
const reports = { json: pages.map(jsonOf), camt: pages.map(camtOf) };

function jsonOf(indexes) {
  const booked = indexes.map((index) => ({
    ...{ transactionId: `A-${index}`, entryReference: `N-${index}`, endToEndId: `E2E-${index}` },
    ...{ bookingDate: DAY, valueDate: DAY },
    transactionAmount: { currency: 'EUR', amount: `-${amountOf(index)}` },
    ...{ creditorName: `Payee ${index}`, creditorAccount: { iban: PAYEE } },
    remittanceInformationUnstructured: `Invoice ${index}`,
    bankTransactionCode: 'PMNT-ICDT-ESCT',
  }));
  return JSON.stringify({ account: { iban: IBAN }, transactions: { booked } });
}

function camtOf(indexes) {
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><GrpHdr><MsgId>M</MsgId></GrpHdr><Stmt><Id>S</Id>
<Acct><Id><IBAN>${IBAN}</IBAN></Id><Ccy>EUR</Ccy></Acct>
${indexes.map(entryOf).join('\n')}
</Stmt></BkToCstmrStmt></Document>
`;
}

function entryOf(index) {
  const code = '<Domn><Cd>PMNT</Cd><Fmly><Cd>ICDT</Cd><SubFmlyCd>ESCT</SubFmlyCd></Fmly></Domn>';
  const payee = `<Cdtr><Pty><Nm>Payee ${index}</Nm></Pty></Cdtr><CdtrAcct><Id><IBAN>${PAYEE}</IBAN></Id></CdtrAcct>`;
  return `<Ntry><NtryRef>N-${index}</NtryRef><Amt Ccy="EUR">${amountOf(index)}</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>${DAY}</Dt></BookgDt><ValDt><Dt>${DAY}</Dt></ValDt><AcctSvcrRef>A-${index}</AcctSvcrRef><BkTxCd>${code}</BkTxCd>
<NtryDtls><TxDtls><Refs><EndToEndId>E2E-${index}</EndToEndId></Refs><RltdPties>${payee}</RltdPties><RmtInf><Ustrd>Invoice ${index}</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>`;
}

const server = createServer(
  { key: readFileSync(join(folder, 'bank-key.pem')), cert: readFileSync(join(folder, 'bank.pem')) },
  ({ method, url, headers }, response) => {
    const { pathname, searchParams } = new URL(url, 'https://bank');
    const [, , , account, list] = pathname.split('/');
    const type = account === 'camt' ? 'application/xml' : 'application/json';
    const head = { 'content-type': type, 'x-request-id': headers['x-request-id'] };
    const consent = { consentStatus: 'valid', consentId: 'c1', _links: {} };
    if (list === 'transactions')
      response.writeHead(200, head).end(reports[account][searchParams.get('pageIndex')]);
    else response.writeHead(method === 'POST' ? 201 : 200, head).end(JSON.stringify(consent));
  },
);
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
