import type { Bank } from '../../bank.ts';
import type { DoorPayment } from './payment.ts';
import { orderStatus, transactionStatus } from './payment-status.ts';

/** The status of a bulk payment in XML: a pain.002.001.03 with the status of all, and of each (ISO 20022). */
export function pain002Of(bank: Bank, payment: DoorPayment): string {
  const entries = payment.orders.map(
    ({ endToEndId }, index) =>
      `<TxInfAndSts><OrgnlEndToEndId>${escaped(endToEndId ?? 'NOTPROVIDED')}</OrgnlEndToEndId><TxSts>${orderStatus(bank, payment, index)}</TxSts></TxInfAndSts>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.03"><CstmrPmtStsRpt>
<GrpHdr><MsgId>${payment.id.slice(0, 35)}</MsgId><CreDtTm>${bank.now().toISOString()}</CreDtTm></GrpHdr>
<OrgnlGrpInfAndSts><OrgnlMsgId>${payment.file?.message ?? 'NOTPROVIDED'}</OrgnlMsgId><OrgnlMsgNmId>pain.001</OrgnlMsgNmId><GrpSts>${transactionStatus(bank, payment)}</GrpSts></OrgnlGrpInfAndSts>
<OrgnlPmtInfAndSts><OrgnlPmtInfId>${payment.file?.information ?? 'NOTPROVIDED'}</OrgnlPmtInfId>${entries.join('\n')}</OrgnlPmtInfAndSts>
</CstmrPmtStsRpt></Document>
`;
}

function escaped(text: string): string {
  return text.replace(/[<>&]/g, (one) => `&#${one.charCodeAt(0)};`);
}
