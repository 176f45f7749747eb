import type { PersonsAuthorisation } from '../../domain/authorisations.ts';
import { REASON_LEVELS } from '../../domain/bank-reason.ts';
import type { Resolution } from '../../domain/flow.ts';
import type { Operation, OrderTarget } from '../../domain/operation.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Column } from '../../terminal/output/fields.ts';
import { always, list, object, oneOf, optional, orNull, text, time } from '../../terminal/output/fields.ts';
import type { Described } from './describe.ts';

// What every kind of flow shows: the fields for programs, each group beside its data, and those for a person.

/** Who has authorised a flow, or may. */
export const authorisationsField = list(
  object({
    id: orNull(text("the bank's id of it")),
    psuId: orNull(text('who the bank was told that it is')),
    scaStatus: orNull(text("the bank's word for it, for example finalised")),
    at: time('when psd2 began it, or learnt of it'),
  }),
  'the authorisations that psd2 knows, one for each person who must authorise',
);

/** Whom something waits for, if several persons must authorise it. */
export const waitingFields = () => ({
  authorisedBy: optional(list(text(), 'who has authorised it; others must, too')),
  waitsFor: optional(
    list(text(), 'whose authorisation has begun; empty: another person, whom psd2 does not know'),
  ),
});

/** The same for a person to read. */
export function authorisedBy(all: readonly PersonsAuthorisation[]): { title: string; value: () => string }[] {
  if (all.length < 2) return [];
  const each = all.map(({ psuId, scaStatus }) => `${psuId ?? 'somebody'} (${scaStatus ?? 'begun'})`);
  return [{ title: 'Authorised by', value: () => each.join(', ') }];
}

/** The first fields of a flow of any kind. */
export const flowBegins = <Kind extends string, State extends string>(
  kind: Kind,
  states: readonly State[],
) => ({
  flow: text('local id; other commands take it, or the beginning of it'),
  kind: always(kind),
  state: oneOf(states, 'state of the flow'),
  resourceId: orNull(text("the bank's id, once it has one")),
  transactionId: text('TPP-Transaction-ID of its calls'),
  customerId: text('customer for whom psd2 acts'),
});

/** The fields that the JSON of every flow begins with, as the flow has them. */
interface Begins<Kind extends string, State extends string> {
  flow: string;
  kind: Kind;
  state: State;
  transactionId: string;
}

/**
 * The first fields in the JSON of every flow.
 *
 * @param resourceId the bank's id, if it has one
 */
export function flowData<Kind extends string, State extends string>(
  { flow, kind, state, transactionId }: Begins<Kind, State>,
  customerId: string,
  resourceId: string | null | undefined,
) {
  return { flow, kind, state, resourceId: resourceId ?? null, transactionId, customerId };
}

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
  ),
  executionStatus: orNull(text("the bank's word: OK, KO, PENDING")),
  executionStatusDescription: orNull(text("why it failed, in the bank's words")),
  bankReasons: bankReasons,
  cro: orNull(text("the bank's reference of the executed operation")),
});

/** The last fields in the JSON of a transfer and of an operation: its status at the bank. */
export function executionData(operation: Operation<OrderTarget>) {
  const { authorizationStatus, executionStatus, executionStatusDescription, reasons, cro } = operation;
  const { resolution, createdAt, updatedAt } = operation;
  return {
    authorizationStatus,
    executionStatus,
    executionStatusDescription,
    bankReasons: [...reasons],
    cro,
    resolution,
    createdAt,
    updatedAt,
  };
}

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
  ),
  createdAt: time('when it began'),
  updatedAt: time('when its state last changed'),
});

/** How a person ended a flow, shown below the flow's other fields. */
export const resolutionField: Column<{ resolution: Resolution | null }> = {
  title: 'Resolved',
  value: ({ resolution }, writeTime) => {
    if (!resolution) return null;
    const { outcome, by, at, note } = resolution;
    return `${outcome}, by ${by} at ${writeTime(at)}${note === null ? '' : `: ${note}`}`;
  },
};

/** The fields that every flow has. */
interface ShownFlow {
  kind: string;
  flow: string;
  state: string;
  createdAt: string;
  updatedAt: string;
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
  return [`The ${flow.kind} ${flow.flow} is ${flow.state}:`]
    .concat(lines.flatMap(([title, value]) => (value ? [`  ${title.padEnd(18)} ${cleanText(value)}`] : [])))
    .join('\n');
}
