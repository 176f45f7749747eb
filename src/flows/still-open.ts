import { isAuthorised, type PersonsAuthorisation, personsIn } from '../domain/authorisations.ts';
import { isOpenAtBank } from '../domain/flow-states.ts';
import { type ErrorCode, endSentence, Psd2Error } from '../errors.ts';
import type { Payment, ReturnPorts } from './ports.ts';
import { saidBy, type Told } from './refusals.ts';

// Exit code 13: psd2 has stopped, and somebody can still authorise at the bank what it stopped with.

/** What the end of a command leaves open at the bank. */
export interface LeftOpen {
  /** Default: by the kind of the flow. */
  what?: 'payment' | 'consent' | 'cancellation' | 'deletion';
  /** Who can still authorise it. Default: the customer. */
  who?: string;
  /** The commands that ask for it. Default: those that the error names, or `resume`. What ends it at the bank comes after them. */
  ask?: string[][];
}

/** The cancellation of a payment, as far as it has one. */
interface Cancelled {
  cancellation?: readonly PersonsAuthorisation[] | null;
}

/**
 * The error if somebody can still authorise what psd2 stopped with (docs/exit-codes.md, 13).
 *
 * @param why what stopped psd2. If the command is named that goes on with it, this error names it, too
 */
export function stillOpen(
  { kind, flow, transactionId, cancellation = null }: Told & Cancelled,
  why: Psd2Error | string,
  { what = kind === 'consent' ? 'consent' : 'payment', who = 'the customer', ask }: LeftOpen = {},
): Psd2Error {
  const { message, next: named = [] } = typeof why === 'string' ? { message: why } : why;
  const end = [kind, kind === 'consent' ? 'delete' : 'cancel', flow, ...namingNext(cancellation)];
  const own = named.filter((words) => words[2] === flow && words.join(' ') !== end.join(' '));
  const goesOn = typeof why === 'string' || !why.isDeadEnd;
  const asks = own.length > 0 ? own : [goesOn ? [kind, 'resume', flow] : onlyAsking({ kind, flow })];
  // With a person it takes that person to the bank.
  const isAsking = asks.some((words) => words[3] !== '--psu-id');
  const commands = ask ?? [...(isAsking ? [] : [onlyAsking({ kind, flow })]), ...asks];
  // Without the person, it would only ask.
  const isNamed = commands.some(
    (words) => words[1] === end[1] && (words[3] === '--psu-id' || words.length === end.length),
  );
  return new Psd2Error(
    'still_open',
    `${endSentence(message)} The ${what} is not over: ${who} can still authorise it`,
    {
      ...(typeof why !== 'string' && saidBy(why)),
      flow,
      transactionId,
      hint: 'Ask the bank what became of it, or end it there:',
      next: isNamed ? commands : [...commands, end],
      ...(typeof why !== 'string' && { cause: why }),
    },
  );
}

/** The command that asks the bank, and begins no authorisation where there is such a command. */
export function onlyAsking({ kind, flow }: Pick<Told, 'kind' | 'flow'>): string[] {
  return [kind, kind === 'operation' ? 'resume' : 'status', flow];
}

/** These say more than that it is open, or something else: what the bank says, that nobody knows, Ctrl-C, another psd2 at work. */
const SAY_MORE: readonly ErrorCode[] = ['still_open', 'outcome_unknown', 'interrupted', 'overtaken'];

/** Whether an error says that psd2 stopped, and not what became of what it stopped with. */
export function isOnlyAStop(error: unknown): error is Psd2Error {
  return error instanceof Psd2Error && !SAY_MORE.includes(error.code);
}

/** The error of a payment that psd2 stopped with: whatever stopped it, a customer with the link can still authorise it. @param who has the link. Absent: the customer */
export function unlessOpen(payment: Payment, error: unknown, who?: string): unknown {
  if (!isOnlyAStop(error) || !isOpenAtBank(payment)) return error;
  // Who gets no link is not the one who has it.
  if (error.isDeadEnd) return stillOpen(payment, error, { who: 'somebody' });
  return stillOpen(payment, error, who === undefined ? {} : { who });
}

/** The option with which a command goes on for the same person. None: it is the customer. */
export function namingPerson(returns: Pick<ReturnPorts, 'person'> | undefined): string[] {
  const id = returns?.person?.id;
  return id === undefined ? [] : ['--psu-id', id];
}

/** The option with which a cancellation goes on that others have authorised. None: nobody has, as far as psd2 knows. */
export function namingNext(cancellation: readonly PersonsAuthorisation[] | null): string[] {
  return cancellation?.some(isAuthorised) ? othersIn(cancellation).named : [];
}

/** Who has authorised something, and who has refused it, as the beginning of a sentence. @param name what it is */
export function whoDid(authorisations: readonly PersonsAuthorisation[], name: string): string {
  const { authorisedBy, refusedBy } = personsIn(authorisations);
  const refused = refusedBy.length > 0 ? `, ${refusedBy.join(', ')} refused it` : '';
  if (authorisedBy.length === 0) return `The ${name} has an authorisation${refused}`;
  return `${authorisedBy.join(', ')} authorised the ${name}${refused}`;
}

/** Who else must authorise something, and the option that names them: those whose authorisation goes on, else somebody whom psd2 does not know. */
export function othersIn(authorisations: readonly PersonsAuthorisation[]): { who: string; named: string[] } {
  const { waitsFor } = personsIn(authorisations);
  const [person = 'ID', ...more] = waitsFor;
  const who = waitsFor.length === 0 ? 'another person' : waitsFor.join(', ');
  return { who, named: ['--psu-id', more.length === 0 ? person : 'ID'] };
}
