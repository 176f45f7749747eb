import {
  describePersons,
  entriesOfPersons,
  type PersonsAuthorisation,
  personsIn,
  whomItWaitsFor,
} from '../../domain/authorisations.ts';
import { REASON_LEVELS } from '../../domain/bank-reason.ts';
import { type FlowState, isOver } from '../../domain/flow-states.ts';
import { OPERATION_STATES, type Operation, type OrderTarget } from '../../domain/operation.ts';
import { describePayeeCheck, PAYEE_RESULTS } from '../../domain/order/payee-check.ts';
import { cleanText } from '../../terminal/clean.ts';
import {
  always,
  list,
  money,
  object,
  oneOf,
  optional,
  orNull,
  text,
  time,
} from '../../terminal/output/fields.ts';
import type { Described } from './describe.ts';

// What every kind of flow shows.

/** The end of a link that a customer of a cancelled payment has. */
export const linkUntilField = orNull(
  time('until when a customer may still authorise it by a link, although the bank has cancelled it'),
).as('Link until', { ifAny: true });

/** What the bank says of a payment beside its answers. */
export const messagesField = () =>
  list(text(), "what the bank says to the customer, for example of the payee's name")
    .from(({ verification }: Pick<Operation<OrderTarget>, 'verification'>) => verification?.messages ?? [])
    .as('Bank says');

/** What a flow says of the persons who authorise it. */
interface Authorised {
  state: string;
  authorisations: readonly PersonsAuthorisation[];
}

/** Who has authorised a flow, who has refused it, and whom it waits for. */
export const personsFields = () => ({
  authorisations: list(
    object({
      id: orNull(text("the bank's id of it")),
      psuId: orNull(text('who the bank was told that it is')),
      scaStatus: orNull(text("the bank's word for it, for example finalised")),
      at: time('when psd2 began it, or learnt of it'),
    }),
    'the authorisations that psd2 knows, one for each person: what they have authorised, else their last one',
  ).from(({ authorisations }: Authorised) => entriesOfPersons(authorisations)),
  authorisedBy: list(text(), 'who has authorised it, as far as psd2 knows their names')
    .from(({ authorisations }: Authorised) => personsIn(authorisations).authorisedBy)
    .as('Authorised by', { ifAny: true })
    .shown((flow: Authorised) =>
      isOfSeveral(flow) ? inWords(personsIn(flow.authorisations).authorisedBy) : null,
    ),
  refusedBy: list(text(), 'whose authorisation has failed: they refused it, or let the time pass')
    .from(({ authorisations }: Authorised) => personsIn(authorisations).refusedBy)
    .as('Refused by', { ifAny: true })
    .shown((flow: Authorised) =>
      isOfSeveral(flow) ? inWords(personsIn(flow.authorisations).refusedBy) : null,
    ),
  waitsFor: orNull(
    list(
      text(),
      'whose authorisation goes on; empty: another person, or nobody whom psd2 knows; null: nobody',
    ),
  )
    .from(({ state, authorisations }: Authorised) =>
      state === 'authorizing' ? personsIn(authorisations).waitsFor : null,
    )
    .as('Waits for', { ifAny: true })
    .shown((flow: Authorised) =>
      isOfSeveral(flow) && flow.state === 'authorizing'
        ? whomItWaitsFor(personsIn(flow.authorisations))
        : null,
    ),
});

/** What a payment says of its cancellation. */
interface Cancelled {
  state: FlowState;
  cancellation: readonly PersonsAuthorisation[] | null;
}

/** Who has authorised the cancellation of a payment, and whom that waits for. */
export const cancellationField = () =>
  orNull(
    object(
      {
        authorisedBy: list(text(), 'who has authorised it'),
        refusedBy: list(text(), 'whose authorisation has failed'),
        waitsFor: list(text(), 'whose authorisation goes on'),
      },
      'the cancellation, if the bank wants somebody to authorise it',
    ),
  )
    .from(({ cancellation, ...flow }: Cancelled) => {
      const persons = cancellation && personsIn(cancellation);
      return persons && isOver(flow) ? { ...persons, waitsFor: [] } : persons;
    })
    .as('Cancellation', { ifAny: true })
    .shown(({ cancellation, ...flow }: Cancelled) =>
      cancellation === null ? null : describePersons(personsIn(cancellation), !isOver(flow)) || 'asked for',
    );

/** Whether more than one person authorises it, as far as psd2 knows. */
function isOfSeveral({ state, authorisations }: Authorised): boolean {
  const isOpen = state === 'authorizing';
  return (
    entriesOfPersons(authorisations).length > 1 ||
    (isOpen && personsIn(authorisations).authorisedBy.length > 0)
  );
}

function inWords(names: readonly string[]): string | null {
  return names.length === 0 ? null : names.join(', ');
}

/** Whom something waits for, if several persons must authorise it. */
export const waitingFields = () => ({
  authorisedBy: optional(list(text(), 'who has authorised it; others must, too')),
  refusedBy: optional(list(text(), 'whose authorisation has failed: they refused it, or let the time pass')),
  waitsFor: optional(
    list(text(), 'whose authorisation has begun; empty: another person, whom psd2 does not know'),
  ),
});

/** The first fields of a flow of any kind. */
export const flowBegins = <Kind extends string, State extends string>(
  kind: Kind,
  states: readonly State[],
  title: string,
) => ({
  flow: text('local id; other commands take it, or the beginning of it').as(title, {
    heading: 'FLOW',
    whole: true,
  }),
  kind: always(kind).from(() => kind),
  state: oneOf(states, 'state of the flow').as('State', { kind: 'state' }),
  resourceId: orNull(text("the bank's id, once it has one")).as('Resource'),
  transactionId: text('TPP-Transaction-ID of its calls').as('Transaction'),
  customerId: text('customer for whom psd2 acts').as('Customer', { whole: true, dispensable: 2 }),
});

type AnyOperation = Operation<OrderTarget>;

/** The first fields of a transfer and of an operation. */
export const operationBegins = <Kind extends string>(kind: Kind, title: string) => {
  const begins = flowBegins(kind, OPERATION_STATES, title);
  return {
    ...begins,
    resourceId: begins.resourceId.from(({ verification }: AnyOperation) => verification?.resourceId ?? null),
    customerId: begins.customerId.from(({ order }: AnyOperation) => order.customerId),
  };
};

/** What it costs. */
export const costFields = () => ({
  totalAmount: orNull(money('debited amount, including the commission'))
    .from(({ verification }: AnyOperation) => verification?.totalAmount ?? null)
    .as('Total'),
  commissions: orNull(money("the bank's commission"))
    .from(({ verification }: AnyOperation) => verification?.commissions ?? null)
    .as('Commission'),
});

/** Why a bank has refused or rejected a payment. */
export const bankReasons = list(
  object({
    level: oneOf(
      REASON_LEVELS,
      'what it is about: the payment, its group (payment information) or the whole file; message: it came with an answer',
    ),
    code: orNull(text('code of ISO 20022, for example AC01')),
    proprietary: orNull(text("the bank's own code, or a code of the standard")),
    text: orNull(text("the bank's words")),
  }),
  'why the bank has refused or rejected it; the first counts',
);

/** The bank's status of an operation. */
export const executionFields = () => ({
  authorizationStatus: orNull(
    text("the bank's word: AUTHORIZED, NOT_AUTHORIZED, EXPIRED, or a pending value"),
  )
    .as('Authorisation')
    // Where the bank has one word for all, a person reads it once.
    .shown(({ authorizationStatus, transactionStatus }: AnyOperation) =>
      authorizationStatus === transactionStatus ? null : authorizationStatus,
    ),
  executionStatus: orNull(text("the bank's word: OK, KO, PENDING"))
    .as('Execution')
    .shown(({ executionStatus, executionStatusDescription }: AnyOperation) =>
      [executionStatus, executionStatusDescription].filter(Boolean).join(': '),
    ),
  executionStatusDescription: orNull(text("why it failed, in the bank's words")),
  bankReasons: bankReasons.from(({ reasons }: AnyOperation) => [...reasons]),
  cro: orNull(text("the bank's reference of the executed operation")).as('CRO'),
});

/** The check of a payee. */
export const payeeCheckField = (what?: string) =>
  orNull(
    object(
      {
        result: oneOf(PAYEE_RESULTS, 'result of the check'),
        name: orNull(text('name of the account holder, if the check gave it')),
        problem: orNull(text('why the check was not possible')),
      },
      what,
    ),
  ).written((check) => check && describePayeeCheck(check));

/** The last fields of a flow of any kind. */
export const flowEnds = () => ({
  resolution: orNull(
    object(
      {
        outcome: oneOf(['executed', 'not-executed'], 'outcome that the person recorded'),
        by: text('who recorded it: user@host'),
        at: time('when'),
        note: orNull(text("the person's own words")),
      },
      'how a person ended the flow, if one did',
    ),
  )
    .as('Resolved')
    .written((resolution, writeTime) => {
      if (!resolution) return null;
      const { outcome, by, at, note } = resolution;
      return `${outcome}, by ${by} at ${writeTime(at)}${note === null ? '' : `: ${note}`}`;
    }),
  createdAt: time('when it began').as('Created', { dispensable: 3 }),
  updatedAt: time('when its state last changed'),
});

/** The fields that every flow has. */
interface ShownFlow {
  kind: string;
  flow: string;
  state: string;
  createdAt: string;
  updatedAt: string;
}

/**
 * Writes a title and the lines that have a value.
 *
 * @param width the least for the names of the lines: a longer one widens all
 */
export function writeDescribed(title: string, lines: Described, width: number): string {
  const shown = lines.flatMap(([name, value]) => (value ? [{ name, value }] : []));
  const widest = Math.max(width, ...shown.map(({ name }) => name.length));
  return [title, ...shown.map(({ name, value }) => `  ${name.padEnd(widest)} ${cleanText(value)}`)].join(
    '\n',
  );
}

/** Describes a flow for a question about it. @param writeTime turns ISO 8601 into the operator's local time */
export function describeFlow(
  flow: ShownFlow,
  description: Described,
  writeTime: (time: string) => string,
): string {
  const lines: Described = [
    ...description,
    ['Begun', writeTime(flow.createdAt)],
    ['Last change', writeTime(flow.updatedAt)],
  ];
  return writeDescribed(`The ${flow.kind} ${flow.flow} is ${flow.state}:`, lines, 18);
}
