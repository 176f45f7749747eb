import type { Bank } from '../../bank/ports/bank.ts';
import type { PsuIdentification } from '../../bank/ports/call.ts';
import type { BankWord } from '../../flows/resolve.ts';
import type { EventOf, FlowOf, Flows, Kind, Open } from '../../store/ports/flows.ts';
import type { Field, View } from '../../terminal/output/fields.ts';
import type { Context, CustomerBank } from '../context.ts';
import type { Printed } from '../declare.ts';

/** What the operator must see of a flow before they confirm. Null and undefined are left out. */
export type Described = [title: string, value: string | null | undefined][];

/** How the customer, or another person, authorises a cancellation. */
export interface CancelThere {
  /** The operator pastes the address that the browser ended at. */
  paste: boolean;
  person?: PsuIdentification | undefined;
}

/** A kind of flow, as the verbs of its noun need to know it. Each kind has one description. */
export interface FlowNoun<K extends Kind> {
  kind: K;
  /** With its article: `a transfer`. */
  one: string;
  /** An id, for examples. */
  example: string;
  /** How one flow is printed. */
  form: Field<object> & View<FlowOf<K>>;
  /** The same for one flow alone. Absent: by its form. */
  record?(flow: FlowOf<K>, now: Date): View<FlowOf<K>>;
  /** `titles`: a pipe gets its fields as a terminal does. */
  inPipe?(flow: FlowOf<K>): 'titles' | undefined;
  /** The end of a flow in one line, if the operator has just confirmed the rest. Undefined or absent: print all of it. */
  inOneLine?(context: Context, flow: FlowOf<K>): string | undefined;
  /** How a flow of the list is printed, at the time for which that is right. */
  listed: Field<object> & View<FlowOf<K> & { now: Date }>;
  /** For a question about a flow. */
  describe(flow: FlowOf<K>): Described;
  /** In a few words, for a choice between flows. */
  inShort(flow: FlowOf<K>): string;
  /** The payment in a few words: `payment of 12.50 EUR to Ada Lovelace`. Absent: its flows pay nothing. */
  payment?(flow: FlowOf<K>): string;
  /** The operator's own reference, which becomes free again if the flow does nothing. */
  referenceOf(flow: FlowOf<K>): string | null;
  /** The call after which it is too late to cancel. */
  sent: 'execute' | 'confirm';
  /** The word for the outcome `executed`. */
  done: 'executed' | 'confirmed';
  /**
   * Cancels a flow at the bank, if only the bank can. Absent: no flow of this kind is cancelled there.
   *
   * @param paste the operator pastes the address that the customer's browser ended at
   */
  cancelAtBank?(context: Context, opened: CustomerBank, open: Open<K>, how: CancelThere): Promise<void>;
  /** Removes what a flow needs no more, if it has ended. Absent: nothing. */
  tidy?(context: Context, flow: FlowOf<K>): Promise<void>;
  /** What stays at the bank after the flow was cancelled here, and the command that ends it there. Absent: nothing. */
  leftAtBank?(flow: FlowOf<K>): { why: string; end: string[] } | undefined;
  /** What follows from the end of a flow that a person resolved, or that was cancelled at the bank. Absent: nothing. */
  afterEnd?(context: Context, flow: FlowOf<K>): Promise<void>;
  /** Whether the outcome is unknown, so that a person may decide it. */
  isUnknown(flow: FlowOf<K>): boolean;
  /** Whether the bank has accepted it and may never say that it is final, so that a person may say that it was executed. Absent: never. */
  isAccepted?(flow: FlowOf<K>): boolean;
  isEnded(flow: FlowOf<K>): boolean;
  askBank(
    bank: () => Promise<Bank>,
    flow: FlowOf<K>,
    flows: Pick<Flows, 'find' | 'resume'>,
  ): Promise<BankWord<EventOf<K>>>;
  /** The examples of `list`, and the help of `resolve`: its options, the text before the examples, the examples. */
  help: { list: string[]; executed: string; notExecuted: string; resolve: string; resolveExamples: string[] };
}

/** Prints one flow. */
export function printFlow<K extends Kind>(
  { output, world }: Context,
  noun: FlowNoun<K>,
  flow: FlowOf<K>,
): void {
  output.record(flow, noun.record?.(flow, world.now()) ?? noun.form, noun.inPipe?.(flow));
}

/** What a command prints that prints one flow. */
export const printsOne = <K extends Kind>({ one, form }: FlowNoun<K>): Printed => ({
  what: one,
  shape: form,
});
