import type { Bank } from '../../src/bank/ports/bank.ts';
import type { Transfer, TransferOrder } from '../../src/domain/transfer.ts';
import { cancelAtBank } from '../../src/flows/payment/cancel.ts';
import { runOperation } from '../../src/flows/payment/loop.ts';
import type { FlowPorts, KnownInitiation } from '../../src/flows/ports.ts';
import { json } from '../bank/interfaces/nextgenpsd2/client.ts';
import type { RecordedBank, ScriptedAnswer } from '../bank/recorded-bank.ts';
import { transferOrder } from '../domain/orders.ts';
import { begun } from '../store/flows.ts';
import { newConfigFolder } from '../store/temporary-folder.ts';
import { fakeCustomer, fakeWorld, returnsTo } from './doubles.ts';
import { flowsIn, leaveBehind, readLines, typesOf } from './transfers.ts';

export const PAGE = 'https://customers.bank.example/sca?p=p1';
const PRODUCT = '/v1/payments/sepa-credit-transfers';
const SELF = `${PRODUCT}/p1`;

export const linksTo = (more: object = {}) => ({
  scaRedirect: { href: PAGE },
  scaStatus: { href: `${SELF}/authorisations/a1` },
  ...more,
});

/** Adds the calls of a payment to a bank's script. */
export function paymentScriptOf(recorded: RecordedBank) {
  return {
    initiate: (answer?: ScriptedAnswer | object, path = PRODUCT) =>
      recorded.expect(
        'POST',
        path,
        typeof answer === 'string' || (answer && 'status' in answer)
          ? (answer as ScriptedAnswer)
          : json({ transactionStatus: 'RCVD', paymentId: 'p1', _links: linksTo(), ...answer }, 201),
      ),
    /** The bank is asked for the time, by a reading with a consent that does not exist. @param at by default, now */
    clock: (at?: Date, headers: object = {}) =>
      recorded.expect('GET', '/v1/accounts', {
        ...{ status: 401, headers: { ...(at && { date: at.toUTCString() }), ...headers } },
        body: JSON.stringify({ tppMessages: [{ category: 'ERROR', code: 'CONSENT_UNKNOWN' }] }),
      }),
    start: (links: object = linksTo()) =>
      recorded.expect('POST', `${SELF}/authorisations`, json({ scaStatus: 'received', _links: links }, 201)),
    sca: (scaStatus: string) =>
      recorded.expect('GET', `${SELF}/authorisations/a1`, json({ scaStatus, authorisationId: 'a1' })),
    /** How far the authorisation is, and then the status of the payment. */
    says: (scaStatus: string, transactionStatus: string) => {
      recorded.expect('GET', `${SELF}/authorisations/a1`, json({ scaStatus, authorisationId: 'a1' }));
      recorded.expect('GET', `${SELF}/status`, json({ transactionStatus }));
    },
    is: (transactionStatus: string) => recorded.expect('GET', `${SELF}/status`, json({ transactionStatus })),
    authorisations: (...authorisationIds: string[]) =>
      recorded.expect('GET', `${SELF}/authorisations`, json({ authorisationIds })),
    cancel: (answer: ScriptedAnswer = { status: 204 }) => recorded.expect('DELETE', SELF, answer),
  };
}

/** @param journal the lines of an earlier journal; absent: a new payment */
export async function newPayment(
  temporary: string,
  bank: Bank,
  { order = {}, journal }: { order?: Partial<TransferOrder>; journal?: string[] } = {},
  customer = fakeCustomer(),
) {
  const folder = newConfigFolder(temporary);
  const world = fakeWorld();
  const flows = flowsIn(folder, world);
  const ordered = transferOrder({
    ...{ instant: false, type: null, reference: 'INV-7', fromIban: 'DE02100100109307118603' },
    ...order,
  });
  const flow = journal ? leaveBehind(folder, journal) : await create();
  const said: string[] = [];
  const fees: boolean[] = [];
  const logged: { is: KnownInitiation } = { is: { answer: 'no' } };
  const returns = returnsTo({
    say: (text) => void said.push(text),
    quote: (words) => void said.push(`The bank says: ${words}`),
  });
  async function create(): Promise<string> {
    const back = { address: 'http://127.0.0.1:8910/callback?state=s1', state: 's1' };
    const initiation = await bank.payments.initiation?.(ordered, back, world.newId);
    const begin = {
      transactionId: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee',
      commits: 'by the customer' as const,
      order: ordered,
      ...(initiation && { initiation }),
    };
    return (await begun(flows, 'transfer', begin)).current.flow;
  }
  const announced: string[] = [];
  const ports: FlowPorts = {
    ...{ bank, world, customer },
    initiated: async () => (logged.is.answer === 'answered' ? logged.is : { announced, ...logged.is }),
    announces: async ({ requestId }) => void announced.push(requestId),
  };
  const lines = () => readLines(folder, flow);
  return {
    flow,
    flows,
    world,
    customer,
    said,
    logged,
    returns,
    ports,
    run: (accepts = true, acceptsFees = true): Promise<Transfer> =>
      flows.resume('transfer', flow, (open) =>
        runOperation(open, bank.payments.transfer(open.current), {
          ...ports,
          returns,
          accept: async () => accepts,
          acceptFees: async () => {
            fees.push(acceptsFees);
            return acceptsFees;
          },
        }),
      ),
    cancel: () =>
      flows.resume('transfer', flow, (open) =>
        cancelAtBank(open, bank.payments.transfer(open.current), ports, returns),
      ),
    fees,
    stored: () => flows.find('transfer', flow),
    lines,
    events: () => typesOf(lines()),
  };
}
