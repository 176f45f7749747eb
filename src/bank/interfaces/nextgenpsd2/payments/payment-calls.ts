import Big from 'big.js';
import type { StatusReport } from '../../../../batch-file/pain002/read.ts';
import type { Initiation } from '../../../../domain/operation.ts';
import type { ScaProgress } from '../../../../domain/payment-answers.ts';
import { needsSettlement, type TransferOrder } from '../../../../domain/transfer.ts';
import { type BankReason, Psd2Error } from '../../../../errors.ts';
import type { BankCall } from '../../../call/call.ts';
import type { Decides } from '../../../ports/customer.ts';
import type { Cancellation, PaymentCalls } from '../../../ports/payment-calls.ts';
import type { OAuth } from '../access/oauth.ts';
import {
  type Authorised,
  linksOf,
  progressOf,
  type Resource,
  scaOf,
  timed,
  usableLinks,
} from '../access/sca.ts';
import type { BankDescription } from '../description/schema.ts';
import { whyNoAnswer } from '../judge/status.ts';
import { sameIban } from '../readings/whose.ts';
import { lacksFormat } from '../reports/format.ts';
import {
  ask,
  type BegunReading,
  type NextGenAnswer,
  type NextGenCaller,
  readAnswer,
  readBegun,
  readDeletion,
} from '../wire/answer.ts';
import { begunWith, type Calls, lackingService } from '../wire/calls.ts';
import { scaStatusAnswer } from '../wire/consent.ts';
import { costIn } from '../wire/costs.ts';
import { callOf } from '../wire/paths.ts';
import {
  authorisationsAnswer,
  cancellationAnswer,
  paymentAnswer,
  paymentInformation,
  paymentStatusAnswer,
} from '../wire/payment.ts';
import { reasonsIn } from '../wire/reasons.ts';
import { saidBeside } from '../wire/said-beside.ts';
import { isInXml, mediaTypeOf } from './pain001.ts';
import { isPastAuthorisation, type PaymentSaid, resourceStatus, settlementOf } from './payment-status.ts';
import { sendInitiation } from './send-initiation.ts';
import { idsIn, reportOf, reportOfPayment } from './status-report.ts';

/** A payment, with what its calls share. */
interface Payment extends Calls {
  oauth: OAuth;
  order: Pick<TransferOrder, 'instant' | 'futureDated' | 'standing'>;
  transactionId: string;
  initiation: Initiation;
  /** The transaction of the signing basket in which the customer authorises it. */
  authorisedBy?: string | undefined;
  /** It is a bulk of transfers. */
  isBulk?: boolean;
}

/** The calls of a payment, or of a bulk of them. */
export function paymentCalls(initiated: Payment): PaymentCalls {
  const { order, description, isBulk = false, transactionId, authorisedBy = transactionId } = initiated;
  const payment = { ...initiated, bank: aboutPayment(initiated.bank, authorisedBy) };
  const status = (resourceId: string, decides?: Decides) => askStatus(payment, resourceId, decides);
  const authorised: Authorised = {
    resource: (paymentId) => paymentResource(payment, 'startPaymentAuthorisation', paymentId),
    oauth: { scope: description.oauth.scope.pis, id: 'paymentId' },
    status: async (resourceId, _, decides) =>
      resourceStatus(await status(resourceId, decides), { ...order, isBulk }, description.payments.final),
    authorisations: (resourceId) => authorisationsOf(payment, resourceId),
    progress: (resourceId) => furthestProgress(payment, resourceId),
  };
  return {
    name: isBulk ? 'bulk payment' : order.standing ? 'standing order' : 'transfer',
    verify: (beforeSend, requestId) => initiate(initiated, beforeSend, requestId),
    verifyFurther: () => Promise.reject(lackingService('further steps of a verification')),
    execute: null,
    executionStatus: needsSettlement(order)
      ? async (resourceId, decides) =>
          settlementOf(await status(resourceId, decides), description.payments.final, isBulk)
      : null,
    debtor: (resourceId) => askDebtor(payment, resourceId),
    sca: scaOf(payment, payment.oauth, authorised),
    cancellation: cancellationOf(payment, authorised),
  };
}

/** Calls about a payment that the bank has. @param authorisedBy the transaction of its SCA */
export function aboutPayment({ send, ask }: NextGenCaller, authorisedBy: string): NextGenCaller {
  const about = (call: BankCall): BankCall => ({
    ...call,
    facts: { ...call.facts, ofPayment: authorisedBy },
  });
  return { send: (call) => send(about(call)), ask: (call, read) => ask(about(call), read) };
}

type PaymentOperation =
  | 'getPaymentInformation'
  | 'getPaymentInitiationStatus'
  | 'getPaymentInitiationAuthorisation'
  | 'cancelPayment';

/** A call about a payment that the bank has. */
function paymentCall(
  { paths, initiation, transactionId }: Payment,
  operation: PaymentOperation,
  paymentId: string,
): BankCall {
  return callOf(paths, operation, pathIds(initiation, paymentId), transactionId);
}

/** The ids in the paths of a payment. */
function pathIds({ service, product }: Initiation, paymentId: string) {
  return { 'payment-service': service, 'payment-product': product, paymentId };
}

/** The payment, or its cancellation, as what the customer authorises. */
function paymentResource({ initiation }: Payment, start: Resource['start'], paymentId: string): Resource {
  return { start, values: pathIds(initiation, paymentId) };
}

/** Initiates the payment: the bytes are those of the flow's first event, whenever this is. */
async function initiate(
  payment: Payment,
  beforeSend: Parameters<PaymentCalls['verify']>[0],
  requestId: string | undefined,
): ReturnType<PaymentCalls['verify']> {
  const { service, product, body, returnAddress, forBasket = false } = payment.initiation;
  const values = { 'payment-service': service, 'payment-product': product };
  const type = mediaTypeOf(body);
  const sending = sendInitiation(
    payment.bank,
    {
      ...callOf(payment.paths, 'initiatePayment', values, payment.transactionId),
      body,
      headers: {
        ...(type !== undefined && { 'content-type': type }),
        ...(forBasket && { 'tpp-explicit-authorisation-preferred': 'true' }),
      },
      beforeSend,
      redirectUri: returnAddress,
      irrevocable: true,
      judged: 'payment',
      ...(requestId !== undefined && { requestId }),
    },
    (answer) => ({ ...readBegun(answer, paymentAnswer), reasons: reasonsOf(payment, answer) }),
  );
  const { data, headers, notices, reasons, isRejected, isDuplicate } = await sending.catch(
    (error: unknown) => {
      const mayWantDebtor = error instanceof Psd2Error && error.bankCode === 'FORMAT_ERROR';
      const namesNone = !isInXml(payment.initiation) && !body.includes('"debtorAccount"');
      if (error instanceof Psd2Error && wantsDay(error, payment.initiation))
        throw error.with({ hint: NO_DAY });
      throw mayWantDebtor && namesNone ? error.with({ hint: NO_DEBTOR }) : error;
    },
  );
  const { transactionStatus, scaStatus } = data;
  const linked = {
    ...payment,
    resource: paymentResource(payment, 'startPaymentAuthorisation', data.paymentId),
  };
  return {
    resourceId: data.paymentId,
    ...(costIn(data) ?? { totalAmount: null, commissions: null }),
    bankName: null,
    nextStep: 'authorisation',
    ...begunWith(payment),
    bank: { transactionStatus, scaStatus },
    links: usableLinks(() => linksOf(data, headers, linked, isPastAuthorisation(transactionStatus))),
    ...saidBeside({ notices, data }),
    ...rejectedIn({ isRejected, isDuplicate, reasons }),
  };
}

/** Whether the bank refuses a standing order and speaks of a day of the month, which the order does not have. */
function wantsDay({ message, reasons = [] }: Psd2Error, { service, body }: Payment['initiation']): boolean {
  const words = [message, ...reasons.map(({ text }) => text)].join(' ');
  const lacks = service === 'periodic-payments' && !body.includes('"dayOfExecution"');
  return lacks && /day[\s_-]*of[\s_-]*execution/i.test(words);
}

const NO_DAY =
  'Give the day of the month with --day, and write "dayOfExecution" into payments.required of the bank file, so that psd2 asks for it.';

/** What an initiation says beside its id, if the bank has rejected it in the same answer. */
export function rejectedIn({
  isRejected,
  isDuplicate,
  reasons,
}: Pick<BegunReading<unknown>, 'isRejected' | 'isDuplicate'> & { reasons: BankReason[] }) {
  return isRejected
    ? { isRejected, ...(reasons.length > 0 && { reasons }), ...(isDuplicate && { isDuplicate }) }
    : {};
}

const NO_DEBTOR =
  'The payment names no account to debit. If the bank wants one, add --from, and write payments.debtorAccount "required" into the bank file.';

/** The account that the bank says it debits. Null: it does not say, or its answer is about another payee or amount. */
async function askDebtor(payment: Payment, paymentId: string): Promise<string | null> {
  // A pain.001 has named it.
  if (isInXml(payment.initiation)) return null;
  const call = paymentCall(payment, 'getPaymentInformation', paymentId);
  const { data } = await ask(payment.bank, call, paymentInformation);
  const sent = paymentInformation.parse(JSON.parse(payment.initiation.body));
  const [payee, ours = payee] = [data, sent].flatMap(({ creditorAccount }) => creditorAccount?.iban ?? []);
  const [stated, ordered = stated] = [data, sent].flatMap(({ instructedAmount }) => instructedAmount ?? []);
  const isIt =
    sameIban(payee ?? '', ours ?? '') &&
    stated?.currency === ordered?.currency &&
    new Big(stated?.amount ?? 0).eq(ordered?.amount ?? 0);
  const { debtorAccount: named } = data;
  return isIt && named !== null && NAME_OF_ACCOUNT.test(named) && !sameIban(named, ours ?? '') ? named : null;
}

/** No account has another name in any form of the standard, and none pays itself. */
const NAME_OF_ACCOUNT = /^[\p{L}\p{N}*#•][\p{L}\p{N}*#• .:/+-]{0,69}$/u;

/** @throws Psd2Error `bank_answer` for an answer about another payment: it decides nothing */
async function askStatus(payment: Payment, paymentId: string, decides: Decides): Promise<PaymentSaid> {
  const isXml = isInXml(payment.initiation);
  const call = {
    ...paymentCall(payment, 'getPaymentInitiationStatus', paymentId),
    decides: decides || true,
  };
  const readAs = (mayBeXml: boolean) => (answer: NextGenAnswer) => {
    const isAnswer = mayBeXml && whyNoAnswer(answer) === null;
    const report = isAnswer ? reportIn(answer, payment, paymentId) : null;
    const time = timed('saidAt', answer.headers);
    if (!report?.status)
      return { ...readAnswer(answer, paymentStatusAnswer), time, reasons: reasonsOf(payment, answer) };
    const fileStatus = paymentStatusAnswer.parse({ transactionStatus: report.status });
    return { data: fileStatus, notices: [], time, reasons: report.reasons };
  };
  // A bank may answer in XML what was initiated in XML.
  const { data, reasons, notices, time } = await payment.bank
    .ask(call, readAs(isXml))
    .catch((error: unknown) => {
      if (!lacksFormat(error)) throw error;
      return payment.bank.ask({ ...call, headers: { accept: 'application/xml' } }, readAs(true));
    });
  return {
    status: data.transactionStatus,
    reasons,
    cost: costIn(data),
    ...time,
    ...saidBeside({ notices, data }),
  };
}

function reasonsOf({ isBulk }: Payment, { reply }: NextGenAnswer): BankReason[] {
  return reasonsIn(reply.json, isBulk ? 'file' : 'payment', reply.messages);
}

/** The status of a payment, or of all payments of a file together, in a pain.002. Null: it is none. */
function reportIn(
  { body, reply }: NextGenAnswer,
  { initiation, isBulk }: Payment,
  paymentId: string,
): Pick<StatusReport, 'status' | 'reasons'> | null {
  if (reply.json !== undefined) return null;
  if (!isInXml(initiation)) return reportOfPayment(body, paymentId, initiation);
  const report = reportOf(body, idsIn(initiation));
  const own = isBulk ? undefined : report?.entries.get(initiation.endToEndId);
  return own ?? report;
}

async function authorisationsOf(payment: Payment, paymentId: string): Promise<string[]> {
  const call = paymentCall(payment, 'getPaymentInitiationAuthorisation', paymentId);
  return (await ask(payment.bank, { ...call, decides: true }, authorisationsAnswer)).data.authorisationIds;
}

/** More than the authorisations of a payment: psd2 begins one, and another if that has failed. */
const MOST_AUTHORISATIONS = 10;

/** How far the authorisation is that is done, if there is one. Else that of the last one. */
async function furthestProgress(payment: Payment, paymentId: string): Promise<ScaProgress | null> {
  const ids = await authorisationsOf(payment, paymentId);
  if (ids.length > MOST_AUTHORISATIONS) return null;
  let last: ScaProgress | null = null;
  for (const authorisationId of ids) {
    const values = { ...pathIds(payment.initiation, paymentId), authorisationId };
    const call = callOf(payment.paths, 'getPaymentInitiationScaStatus', values, payment.transactionId);
    last = progressOf((await ask(payment.bank, { ...call, decides: true }, scaStatusAnswer)).data);
    if (last.means === 'done') return last;
  }
  return last;
}

/** How a bank cancels the payments of a service (`payments.cancel`). */
export function cancelling(
  { cancel }: Pick<BankDescription['payments'], 'cancel'>,
  service: Initiation['service'],
): 'authorised' | 'direct' | 'none' {
  if (typeof cancel === 'string') return cancel;
  return service === 'signing-baskets' ? 'authorised' : (cancel[service] ?? 'authorised');
}

function cancellationOf(payment: Payment, authorised: Authorised): Cancellation {
  const { bank, description } = payment;
  const resource = (paymentId: string) =>
    paymentResource(payment, 'startPaymentInitiationCancellationAuthorisation', paymentId);
  return {
    async request({ resourceId, redirectUri, beforeSend, wasTaken }) {
      if (cancelling(description.payments, payment.initiation.service) === 'none')
        throw new Psd2Error('usage', 'This bank cancels no payments', {
          hint: 'The customer can ask the bank. What becomes of the payment, psd2 asks the bank.',
        });
      const call = { ...paymentCall(payment, 'cancelPayment', resourceId), beforeSend, redirectUri };
      return bank.ask(call, (answer) => {
        const { verdict, notices } = readDeletion(answer, { what: 'payment', wasTaken });
        if (verdict === 'is gone') return { verdict, notices };
        const reply = answer.body.length > 0 ? answer.reply : { ...answer.reply, json: {} };
        const { data, headers } = readAnswer({ ...answer, reply }, cancellationAnswer);
        const messages = saidBeside({ notices, data });
        // The standard says where an authorisation begins, also without a link.
        if (verdict === 'taken' || verdict === 'accepted')
          return {
            verdict: 'taken' as const,
            notices,
            ...messages,
            ...(verdict === 'accepted' && { mayWantCustomer: true }),
          };
        return {
          verdict,
          notices,
          ...messages,
          links: linksOf(data, headers, { ...payment, resource: resource(resourceId) }),
        };
      });
    },
    sca: scaOf(payment, payment.oauth, {
      ...authorised,
      resource,
    }),
  };
}
