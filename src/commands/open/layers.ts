import {
  type Answer,
  type Caller,
  type Exchange,
  type Notice,
  openCaller,
  type Said,
} from '../../bank/call/call.ts';
import type { Bank, BankInterface } from '../../bank/ports/bank.ts';
import { withSca } from '../../flows/sca.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { AccountReads, Context, ProfileContext } from '../context.ts';
import { customerPortsOf } from '../flow/ports.ts';
import { isFirst } from '../shared/once.ts';
import { countingReads, notingCalls } from './call-records.ts';
import type { OpenCustomer } from './customer.ts';
import { type Ends, noticingEnds } from './ended-consent.ts';
import { namingSandbox } from './naming-sandbox.ts';
import { type Carried, carrying } from './sessions.ts';

/** What the layers know of the calls that they wrap. */
export interface WrappedCalls {
  context: ProfileContext;
  logsIn: BankInterface['logsIn'];
  carried: Carried;
  /** Whom the calls are for. Absent: for the application alone. */
  customer?: CalledCustomer;
}

/** The customer whom calls are for. */
export interface CalledCustomer extends Pick<OpenCustomer, 'customerId' | 'holder'> {
  context: Context;
  reads: AccountReads;
  /** Null: no end of a consent is noticed. */
  ends: Ends | null;
  /** The customer is there, so psd2 may send them to SCA. */
  isPresent: boolean;
}

/** A layer sees the calls of the layers before it, and what these add. `bankOver` makes the bank over them. */
type Layer<Of> = <What extends Said>(
  calls: Caller<What>,
  wrapped: Of,
  bankOver: (calls: Caller<What>) => Bank,
) => Caller<What>;

/** The layers of every call, from the wire to the command. */
const OF_EVERY_CALL: readonly Layer<WrappedCalls>[] = [
  // Says that the sandbox is down, instead of that the bank cannot be reached.
  (calls, { context }) => namingSandbox(calls, context, context.profile()),
];

/** The layers that follow if the calls are for a customer. */
const OF_A_CUSTOMER: readonly Layer<WrappedCalls & CalledCustomer>[] = [
  // Remembers that the bank does not allow a call, for `doctor` and `auth status`.
  (calls, { context, holder }) => notingCalls(calls, context, holder),
  // Notices the end of a consent, and takes another one if it may read the same.
  (calls, { ends }) => noticingEnds(calls, ends),
  // Takes a read of the day before a call, because PSD2 limits them while the customer is absent.
  (calls, { reads, customerId }) => countingReads(calls, reads, customerId),
  // Sends the customer to SCA if the bank asks for it, and makes the call again.
  (calls, { context, isPresent }, bankOver) =>
    isPresent ? sendingToSca(calls, context, bankOver(calls)) : calls,
];

/**
 * Wraps the calls of an exchange, which signs each attempt, sends it in its turn, checks and parses the answer, logs it and
 * retries. Calls get their tokens next, then somebody reads the answers, and then come the layers in the order of their lists.
 */
export function wrap<What extends Said>(
  exchange: Exchange<What>,
  wrapped: WrappedCalls,
  bankOver: (calls: Caller<What>) => Bank,
): Caller<What> {
  const { context, carried, customer, logsIn } = wrapped;
  const authenticated = carrying(exchange, carried, logsIn);
  const answered = openCaller(authenticated, noticesAt(context), carried.ofHolder && answersAt(context));
  const calls = OF_EVERY_CALL.reduce((below, layer) => layer(below, wrapped, bankOver), answered);
  if (!customer) return calls;
  const forCustomer = { ...wrapped, ...customer };
  return OF_A_CUSTOMER.reduce((below, layer) => layer(below, forCustomer, bankOver), calls);
}

/** Shows the notices of the bank, each once. */
function noticesAt({ terminal }: ProfileContext): (notice: Notice) => void {
  return ({ text, code }) => {
    if (isFirst(terminal, text))
      terminal.warn(cleanText(`The bank says: ${text}${code ? ` [${code}]` : ''}`));
  };
}

/** Tells the command of each answer to a call with tokens, and prints it with `--raw`. */
function answersAt({ calls, globals, printBytes }: ProfileContext): (answer: Answer) => void {
  const print = onLinesOfTheirOwn(printBytes);
  return ({ call: { method }, route, status, headers, reply, body }) => {
    calls?.answered?.({ method, route, status, contentType: headers['content-type'], json: reply.json });
    if (globals.raw) print(body);
  };
}

/** Puts a line break between one answer and the next, so that a reader finds each. */
function onLinesOfTheirOwn(printBytes: (bytes: Uint8Array) => void): (body: Buffer) => void {
  let needsBreak = false;
  return (body) => {
    printBytes(needsBreak ? Buffer.concat([Buffer.from('\n'), body]) : body);
    if (body.length > 0) needsBreak = body.at(-1) !== 0x0a;
  };
}

/** Sends the customer to SCA if the bank asks for it, and makes the call again. A PUT is not repeated: its SCA is done. */
function sendingToSca<What extends Said>(calls: Caller<What>, context: Context, bank: Bank): Caller<What> {
  const { globals, terminal, world } = context;
  const ports = {
    bank,
    customer: customerPortsOf(context, context.profile()),
    world,
    get maySendCustomer() {
      return globals.yes || terminal.canAsk;
    },
    say: terminal.say,
  };
  return {
    send: calls.send,
    ask: (call, read) =>
      call.method === 'PUT'
        ? calls.ask(call, read)
        : withSca(() => calls.ask(call, read), call.transactionId, ports),
  };
}
