// How long `psd2 batch check` takes for files of 100 000 payments, and how much memory. What a payment of a batch costs, against a
// transfer of its own. BENCH_BATCH says how many payments are paid: 200, unless it says more.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { figure, median, runRecorded } from './measure.js';
import { openOperator, PROGRAM } from './operator.js';
import { atOwnBank } from './own-bank.js';

const PAYMENTS = 100_000;
const MAX_SECONDS = 10;
const MAX_MEGABYTES = 200;

const PAID = Number(process.env.BENCH_BATCH ?? 200);
const ANSWER_MS = 100;
const TRANSFERS = 15;
const MAX_RATIO = 1.1;
const FROM = 'DE40100100103307118608';
const BANK = fileURLToPath(new URL('paying-bank.js', import.meta.url));

export async function batches(node, version) {
  return [...checks(node, version), await runs(node, version)];
}

function checks(node, version) {
  const operator = openOperator();
  try {
    return Object.entries({ CSV: csv(), 'pain.001': pain001() }).flatMap(([format, text]) => {
      const file = join(operator.folder, 'payments');
      writeFileSync(file, text);
      const { stdout, seconds, megabytes } = runRecorded([node, PROGRAM, 'batch', 'check', file, '--json'], {
        env: operator.env,
      });
      const { lines, problems } = JSON.parse(stdout);
      if (lines !== PAYMENTS || problems.length > 0)
        throw new Error(`psd2 found ${lines} payments and ${problems.length} problems`);
      const what = `psd2 batch check, ${format}, ${PAYMENTS} payments, Node ${version}`;
      return [
        figure({
          what,
          ratio: seconds / MAX_SECONDS,
          against: `${MAX_SECONDS} s`,
          limit: 1,
          detail: `${seconds.toFixed(1)} s`,
        }),
        figure({
          what: `${what}: memory`,
          ratio: megabytes / MAX_MEGABYTES,
          against: `${MAX_MEGABYTES} MB`,
          limit: 1,
          detail: `${megabytes.toFixed(0)} MB`,
        }),
      ];
    });
  } finally {
    operator.close();
  }
}

/** Pays a batch at a bank that answers after a while, and transfers of their own before and after it. */
function runs(node, version) {
  return atOwnBank(node, [BANK, String(ANSWER_MS)], (run, at) => paying({ run, at, version }));
}

function paying({ run, at, version }) {
  const rows = Array.from(
    { length: PAID },
    (_, index) => `Payee ${index},DE89370400440532013000,${amountOf(index)}\n`,
  );
  writeFileSync(at('payments.csv'), `name,iban,amount\n${rows.join('')}`);
  const transfers = [];
  const transferOnce = () => {
    const order = ['--from', FROM, '--to', 'DE89370400440532013000', '--name', 'Ada', '--amount', '1.00'];
    transfers.push(run('transfer', 'create', ...order).seconds);
  };
  transferOnce();
  transfers.pop();
  for (let n = 0; n < TRANSFERS; n += 1) transferOnce();
  const { batch } = JSON.parse(run('batch', 'add', at('payments.csv'), '--from', FROM).stdout);
  const { stdout, seconds } = run('batch', 'run', batch, '--as', 'single');
  const paid = JSON.parse(stdout).filter(({ state }) => state === 'executed').length;
  if (paid !== PAID) throw new Error(`psd2 has paid ${paid} of ${PAID} payments`);
  const each = median(transfers);
  return figure({
    what: `psd2 batch run, ${PAID} payments without SCA, bank answers after ${ANSWER_MS} ms, Node ${version}`,
    ratio: seconds / PAID / each,
    against: 'psd2 transfer create, each',
    limit: MAX_RATIO,
    detail: `${((seconds * 1000) / PAID).toFixed(0)} ms against ${(each * 1000).toFixed(0)} ms, median of ${TRANSFERS}`,
  });
}

/** Each payment has an amount of its own, so that no two look alike. */
function amountOf(index) {
  return `${Math.floor(index / 100) + 1}.${String(index % 100).padStart(2, '0')}`;
}

function csv() {
  const rows = Array.from(
    { length: PAYMENTS },
    (_, index) =>
      `Payee ${index},DE89370400440532013000,${amountOf(index)},Invoice ${index},R-${index},0010482620`,
  );
  return `name,iban,amount,description,reference,from\n${rows.join('\n')}\n`;
}

function pain001() {
  const payments = Array.from(
    { length: PAYMENTS },
    (_, index) => `<CdtTrfTxInf>
  <PmtId><InstrId>I-${index}</InstrId><EndToEndId>R-${index}</EndToEndId></PmtId>
  <Amt><InstdAmt Ccy="EUR">${amountOf(index)}</InstdAmt></Amt>
  <CdtrAgt><FinInstnId><BICFI>COBADEFFXXX</BICFI></FinInstnId></CdtrAgt>
  <Cdtr><Nm>Payee ${index}</Nm></Cdtr>
  <CdtrAcct><Id><IBAN>DE89370400440532013000</IBAN></Id></CdtrAcct>
  <RmtInf><Ustrd>Invoice ${index}</Ustrd></RmtInf>
</CdtTrfTxInf>
`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"><CstmrCdtTrfInitn>
<GrpHdr><MsgId>M-1</MsgId><CreDtTm>2026-11-20T10:00:00</CreDtTm><NbOfTxs>${PAYMENTS}</NbOfTxs><InitgPty/></GrpHdr>
<PmtInf><PmtInfId>P-1</PmtInfId><PmtMtd>TRF</PmtMtd><ReqdExctnDt><Dt>2099-12-01</Dt></ReqdExctnDt>
<Dbtr><Nm>Acme</Nm></Dbtr><DbtrAcct><Id><IBAN>IT60X0542811101000000123456</IBAN></Id></DbtrAcct>
${payments.join('')}</PmtInf></CstmrCdtTrfInitn></Document>
`;
}
