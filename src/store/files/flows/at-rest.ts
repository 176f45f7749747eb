import { statSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Acceptance,
  isAccepted,
  isOpen,
  needsAttention,
  type Progress,
} from '../../../domain/flow-states.ts';
import { needsSettlement } from '../../../domain/transfer.ts';
import { readOwnFile } from '../../disk/files.ts';
import { replaceDurably } from '../../disk/replace.ts';
import type { FlowKind } from '../../flow/kinds.ts';
import { mayHaveOrder } from '../../flow/order-filter.ts';
import type { Filter } from '../../ports/flows.ts';
import { addCheckedLines, checkedLine, checkedLines } from './checked-lines.ts';

/** What a list needs to know of a flow at rest. */
export interface RestingFlow {
  /** The size of its journal in bytes. With another size, nothing here counts. */
  size: number;
  state: string;
  /** Its customer and the order, as JSON. */
  text: string;
}

type Resting = Progress & { flow: string; reached: boolean };

/**
 * The flows that need no person, and to which nothing more happens by itself. Lists skip them without reading their journals:
 * there may be hundreds of thousands. It is the append-only file `at-rest` beside the journals. Each line has a checksum.
 *
 * Nothing depends on it. A line counts only while the journal has the same size, so a journal that has grown, or was restored
 * from a backup, is read. If the file or a line is missing or damaged, psd2 reads the journals and writes the lines again.
 */
export class FlowsAtRest {
  readonly #path: string;
  #seen: { file: string; flows: ReadonlyMap<string, RestingFlow> } | undefined;

  /** @param folder of the flows' journals */
  constructor(folder: string) {
    this.#path = join(folder, 'at-rest');
  }

  /** @throws Psd2Error `config` if another user may have written the file */
  read(): ReadonlyMap<string, RestingFlow> {
    const stats = statSync(this.#path, { throwIfNoEntry: false });
    const file = `${stats?.ino} ${stats?.size} ${stats?.mtimeMs}`;
    if (this.#seen?.file === file) return this.#seen.flows;
    const flows = new Map<string, RestingFlow>();
    for (const line of stats ? checkedLines(this.#path) : []) {
      const [, flow = '', size, state = '', text = ''] = /^(\S+) (\d+) (\S+) (.*)$/.exec(line) ?? [];
      if (flow !== '') flows.set(flow, { size: Number(size), state, text });
    }
    this.#seen = { file, flows };
    return flows;
  }

  add(lines: readonly string[]): void {
    addCheckedLines(this.#path, lines);
  }

  /** Removes what is known of a flow, durably. @throws Psd2Error `config` if the file cannot be written */
  forget(flow: string): void {
    const lines = (readOwnFile(this.#path)?.toString('utf8') ?? '').split('\n');
    const others = lines.filter((line) => line !== '' && !line.startsWith(`${flow} `, 9));
    if (others.length < lines.filter((line) => line !== '').length)
      replaceDurably(this.#path, others.map((line) => `${line}\n`).join(''));
  }
}

/** The line of a flow. Undefined if it is not at rest. @param size of its journal */
export function lineAtRest<Flow extends Resting, Event>(
  { customerIdOf, orderOf }: Pick<FlowKind<Flow, Event>, 'customerIdOf' | 'orderOf'>,
  flow: Flow,
  size: number,
): string | undefined {
  const order = orderOf?.(flow);
  if (isOpen(flow) || needsAttention(flow, order !== undefined && needsSettlement(order))) return undefined;
  if (isPayment(flow) && isAccepted(flow)) return undefined;
  const { name, to, amount, reference } = order ?? {};
  const text = JSON.stringify({ customerId: customerIdOf(flow), name, to, amount, reference });
  return checkedLine(`${flow.flow} ${size} ${flow.state} ${text}`);
}

function isPayment(flow: object): flow is Acceptance {
  return 'commits' in flow;
}

/** Whether a list surely leaves out a flow at rest. */
export function isLeftOut({ state, text }: RestingFlow, { attention, states, ...filter }: Filter): boolean {
  return (
    attention === true ||
    (states !== undefined && !states.some((each) => each === state)) ||
    !mayMatch(text, filter)
  );
}

/** Whether a flow may be of this customer and have such an order. @param text what is written of it */
export function mayMatch(text: string, { customer, order }: Filter): boolean {
  const isOfCustomer = customer === undefined || text.includes(JSON.stringify(customer));
  return isOfCustomer && (order === undefined || mayHaveOrder(text, order));
}
