import { cb } from '../../../src/bank/interfaces/cb/interface.ts';
import { transferOrder } from '../../domain/orders.ts';
import { refusal, success } from '../answers.ts';
import { TOKEN, useClients } from '../client.ts';
import { type ScriptedAnswer, useRecordedBank } from '../recorded-bank.ts';
import type { AskedCall, Said, UseSubject } from './subject.ts';

const TRANSFER = '/private/customers/1234567/products/0000012345/moneyTransfer';
const CALLS: Record<AskedCall, [method: string, path: string]> = {
  list: ['GET', '/private/customers/1234567/accounts'],
  begin: ['POST', `${TRANSFER}/verify`],
  'request a consent': ['POST', '/private/customers/1234567/consent/request'],
  execute: ['PUT', `${TRANSFER}/r1/execute`],
  'start SCA': ['GET', '/private/auth/security/sca/r1/approach'],
  status: ['GET', '/private/operations/r1/status'],
};
const STATUS = {
  open: ['PENDING', 'PENDING'],
  authorised: ['AUTHORIZED', 'PENDING'],
  refused: ['NOT_AUTHORIZED', 'PENDING'],
  executed: ['AUTHORIZED', 'EXECUTED'],
  'in no list': ['GREEN', 'BLUE'],
} as const;

/** Today's bank under the contract. */
export const useCb: UseSubject = () => {
  const recorded = useRecordedBank();
  const openClient = useClients(recorded);
  return () => ({
    interface: cb,
    bank: openClient().bank,
    customerId: '1234567',
    order: transferOrder({ reference: 'INV-1' }),
    answer: (call, said) => recorded.expect(...CALLS[call], write(said, call)),
    received: () => recorded.received,
    token: TOKEN,
  });
};

function write(said: Said, call: AskedCall): ScriptedAnswer {
  if (said === 'nothing') return 'cut before the answer';
  if ('accounts' in said)
    return success(JSON.stringify({ accounts: said.accounts.map((accountId) => ({ accountId })) }));
  if ('begun' in said && call === 'request a consent')
    return success('{"categoriesOutcome":[]}', { resourceId: said.begun });
  if ('begun' in said)
    return success('{}', { resourceId: said.begun, next: { method: 'PUT', href: 'x/execute' } });
  if ('executed' in said) return success(JSON.stringify({ cro: said.executed }));
  if ('link' in said)
    return success(JSON.stringify({ scaRedirectURL: said.link, chosenScaApproach: 'REDIRECT' }));
  if ('about' in said) return success('{"authorizationStatus":"AUTHORIZED"}', { resourceId: said.about });
  if ('status' in said) {
    const [authorizationStatus, executionStatus] = STATUS[said.status];
    return success(JSON.stringify({ authorizationStatus, executionStatus }));
  }
  return said.by === 'the bank' ? refusal(said.refused) : { status: said.refused, body: '<html>No</html>' };
}
