import { bankFile } from '../../../src/bank/interfaces/nextgenpsd2/description/schema.ts';
import { nextgenpsd2 } from '../../../src/bank/interfaces/nextgenpsd2/interface.ts';
import { transferOrder } from '../../domain/orders.ts';
import { TOKEN } from '../client.ts';
import { json, refusal, useNextGen, useNextGenBank } from '../interfaces/nextgenpsd2/client.ts';
import type { ScriptedAnswer } from '../recorded-bank.ts';
import type { AskedCall, Said, UseSubject } from './subject.ts';

const CALLS: Partial<Record<AskedCall, [method: string, path: string]>> = {
  list: ['GET', '/v1/accounts'],
  'request a consent': ['POST', '/v1/consents'],
  'start SCA': ['POST', '/v1/consents/r1/authorisations'],
  status: ['GET', '/v1/consents/r1/status'],
};
const STATUS: Partial<Record<string, string>> = {
  open: 'received',
  refused: 'rejected',
  executed: 'valid',
  'in no list': 'green',
};
const CODES: Partial<Record<number, string>> = {
  400: 'FORMAT_ERROR',
  409: 'STATUS_INVALID',
  429: 'ACCESS_EXCEEDED',
  500: 'INTERNAL_SERVER_ERROR',
};

/** A bank of the Berlin Group under the contract. */
export const useNextGenPsd2: UseSubject = () => {
  const recorded = useNextGenBank();
  const openClient = useNextGen(recorded);
  const tokens = { current: async () => TOKEN, renewed: async () => TOKEN };
  return () => ({
    interface: nextgenpsd2(bankFile.parse({ interface: 'nextgenpsd2' })),
    bank: openClient({ tokens }).bank,
    customerId: 'shop',
    order: transferOrder({ reference: 'INV-1' }),
    answer(call, said) {
      const asked = CALLS[call];
      if (!asked) throw new TypeError(`The interface does not ask for "${call}"`);
      recorded.expect(...asked, write(said));
      if (said !== 'nothing' && 'accounts' in said)
        recorded.expect('GET', '/v1/card-accounts', { status: 404 });
    },
    received: () => recorded.received,
    token: TOKEN,
  });
};

function write(said: Said): ScriptedAnswer {
  if (said === 'nothing') return 'cut before the answer';
  if ('accounts' in said) return json({ accounts: said.accounts.map((resourceId) => ({ resourceId })) });
  if ('begun' in said) return json({ consentId: said.begun, consentStatus: 'received' }, 201);
  if ('link' in said) return json({ _links: { scaRedirect: { href: said.link } } }, 201);
  if ('about' in said) return json({ consentStatus: 'valid', consentId: said.about });
  if ('status' in said) return json({ consentStatus: STATUS[said.status] });
  if ('executed' in said) throw new TypeError('psd2 executes nothing here');
  return said.by === 'the bank'
    ? refusal(said.refused, CODES[said.refused] ?? 'FORBIDDEN')
    : { status: said.refused, body: '<html>No</html>' };
}
