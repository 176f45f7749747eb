import { setTimeout as wait } from 'node:timers/promises';
import type { HttpBindings } from '@hono/node-server';
import { type OutgoingAnswer, send } from '../answers/outgoing.ts';
import type { Bank } from '../bank.ts';
import type { Paid } from '../console/payments-together.ts';
import type { Order } from '../control/order.ts';
import type { ReadTan } from '../customers/sca-methods.ts';
import type { Fault } from '../faults/fault.ts';
import { applyContentFaults, clockOf, find, ownFaults } from '../faults/spoil.ts';
import { type RawRequest, readRawRequest } from '../strict/raw-request.ts';

/** A call on its way through the bank, for its door and for the console. */
export interface Passage {
  readonly request: RawRequest;
  faults: readonly Fault[];
  refusal: Error | undefined;
  /** Who calls. Undefined: the bank does not know yet. */
  caller: string | undefined;
  /** Undefined: the console knows the call by its path. */
  title: string | undefined;
  /** What the bank ignored in the request. */
  warnings: readonly string[];
}

/** What a door sees of a call before it checks it. */
export interface Met {
  /** What faults call it. Undefined: its method and path. */
  operation: string | undefined;
  /** What faults call it besides. Undefined: nothing. */
  step?: string | undefined;
  /** Whose call it is. Undefined: no customer is known. */
  customerId: string | undefined;
  /**
   * Checks certificates, headers, digest and signature.
   *
   * @returns what comes after the faults that replace a call: it finds out who calls for what
   * @throws a refusal, as all that follows
   */
  check(): () => Served;
}

/** A call that the bank serves. */
export interface Served {
  serve(): OutgoingAnswer;
  /** What a magic value makes of it. */
  magic: Fault | undefined;
}

/** A door of the bank: an interface with which TPPs call it. A door translates. The way of a call is the same at each. */
export interface Door {
  /** Whether a request is for this door. */
  isFor(target: string): boolean;
  /** @throws a refusal of a request that the bank does not look into */
  meet(passage: Passage): Met;
  /** The answer to a refusal, and to a defect of the sandbox. */
  refuse(error: Error, passage: Passage): OutgoingAnswer;
  /** The refusal of a fault: with this status. */
  fail(status: number, passage: Passage, because: { message: string; detail: string }): OutgoingAnswer;
  /** Gives an answer the persona's shape, before faults change it. */
  shape?(answer: OutgoingAnswer, passage: Passage): void;
  /** Adds what every answer has. @param now the bank's clock, which a fault may set wrong */
  seal(answer: OutgoingAnswer, passage: Passage, now: Date): void;
  /** Changes the bytes of the answer, after the console has it. */
  pack?(answer: OutgoingAnswer, passage: Passage): void;
  /** For the owner of the sandbox. Absent: the console shows its calls alone. */
  owner?: OwnerSide;
}

/** The open doors of a bank, by their names. */
export type Doors = ReadonlyMap<string, Door>;

/** What the owner of the sandbox sees of a door, and orders it to do. */
export interface OwnerSide {
  /** Where it is, if not at the address of the bank. */
  url?: string;
  /** The names of its calls, for faults. */
  calls: readonly string[];
  /** What customers have to decide and what they gave, as the page of the console reads it. @param most of each kind */
  flows(most: number): object;
  /** Its newest payments, oldest first. */
  paid(most: number): Paid[];
  orders?: readonly Order[];
  /** The customer withdraws all consents. @returns how many */
  revokeAll(customerId: string): number;
  /** A customer reads the newest valid TAN, once. Absent: the door never sends one. */
  readTan?(customerId: string): ReadTan | null;
}

export type Listener = (
  incoming: HttpBindings['incoming'],
  outgoing: HttpBindings['outgoing'],
) => Promise<void>;

/** Answers the calls of a door. Once an answer leaves, the bank has kept what the call did. */
export function listenerOf(bank: Bank, door: Door): Listener {
  return async (incoming, outgoing) => {
    try {
      await answerCall(bank, door, await readRawRequest(incoming), outgoing);
    } catch {
      // The client hung up while it sent its request. Nobody waits for an answer.
      outgoing.destroy();
    }
  };
}

async function answerCall(
  bank: Bank,
  door: Door,
  request: RawRequest,
  outgoing: HttpBindings['outgoing'],
): Promise<void> {
  const begun = performance.now();
  const passage: Passage = {
    request,
    faults: [],
    refusal: undefined,
    caller: undefined,
    title: undefined,
    warnings: [],
  };
  const refuse = (error: unknown): OutgoingAnswer => {
    passage.refusal = error instanceof Error ? error : new Error(String(error));
    return door.refuse(passage.refusal, passage);
  };
  let answer: OutgoingAnswer;
  try {
    answer = answerTo(bank, door, passage);
  } catch (error) {
    answer = refuse(error);
  }
  await bank.keep().catch((error: unknown) => {
    answer = refuse(error);
  });
  const { faults } = passage;
  const now = clockOf(bank.wallNow(), faults);
  door.shape?.(answer, passage);
  applyContentFaults(answer, faults);
  if (find(faults, 'clock')) answer.headers.set('date', now.toUTCString());
  door.seal(answer, passage, now);
  bank.calls.addCall({ ...passage, at: bank.now(), milliseconds: performance.now() - begun, answer });
  door.pack?.(answer, passage);
  await sendWithFaults(outgoing, request, answer, faults);
}

/** The answer to a call, before faults change it. @throws a refusal */
function answerTo(bank: Bank, door: Door, passage: Passage): OutgoingAnswer {
  const { request } = passage;
  const { operation, step, customerId, check } = door.meet(passage);
  passage.faults = [
    ...bank.faults.due({ ...request, operation, step }, { now: bank.now(), customerId }),
    ...ownFaults(request),
  ];
  if (find(passage.faults, 'cut-before-effect'))
    return { status: 200, headers: new Headers(), body: Buffer.alloc(0) };
  // A fault does not make the bank less strict: it replaces a call that passed the checks.
  const serve = check();
  return replaced(door, passage, passage.faults) ?? served(door, passage, serve());
}

function served(door: Door, passage: Passage, { serve, magic }: Served): OutgoingAnswer {
  const planned = magic && replaced(door, passage, [magic]);
  if (planned) return planned;
  const answer = delivered(door, passage, serve);
  // A refusal stays visible, because the bank did nothing.
  if (magic && answer.status < 300) passage.faults = [...passage.faults, magic];
  return answer;
}

/** The answer of a fault that replaces a call. */
function replaced(door: Door, passage: Passage, faults: readonly Fault[]): OutgoingAnswer | undefined {
  const fault = faults.find(({ kind }) => kind === 'firewall' || kind === 'status');
  if (fault?.kind === 'firewall') {
    const headers = new Headers({ 'Content-Type': 'text/html' });
    return { status: 403, headers, body: Buffer.from(FIREWALL_PAGE) };
  }
  return fault && failed(door, passage, fault.value, 'A fault made the bank fail', 'Nothing was done.');
}

/** What a firewall in front of the bank answers. */
const FIREWALL_PAGE = `<!DOCTYPE html>
<html><head><title>Request rejected</title></head>
<body>The requested URL was rejected. Please consult with your administrator.</body></html>
`;

function failed(
  door: Door,
  passage: Passage,
  status: number,
  message: string,
  detail: string,
): OutgoingAnswer {
  const answer = door.fail(status, passage, { message, detail });
  if ([420, 429, 503].includes(status)) answer.headers.set('retry-after', '1');
  return answer;
}

/**
 * Plays a gateway that gives a call to the bank twice, if a fault asks for it. The gateway checks the call once, so the bank does not
 * recognise the second by its request id. A refusal of the first stays visible, because the bank did nothing.
 */
function delivered(door: Door, passage: Passage, serve: Served['serve']): OutgoingAnswer {
  const first = serve();
  const status = find(passage.faults, 'delivered-twice-status');
  if (!status) return find(passage.faults, 'delivered-twice') ? serve() : first;
  const [message, detail] = ['A fault delivered the call twice', 'The bank carried out the first delivery.'];
  return failed(door, passage, status.value, message, detail);
}

/** Sends an answer. Faults can delay it or cut it off. */
async function sendWithFaults(
  outgoing: HttpBindings['outgoing'],
  { method }: RawRequest,
  answer: OutgoingAnswer,
  faults: readonly Fault[],
): Promise<void> {
  const delay = find(faults, 'delay');
  if (delay) await wait(delay.value, undefined, { ref: false });
  if (find(faults, 'cut-before-effect') ?? find(faults, 'cut-after-effect')) {
    outgoing.destroy();
    return;
  }
  if (!find(faults, 'cut-in-the-middle')) {
    send(outgoing, method, answer);
    return;
  }
  const { status, headers, body } = answer;
  outgoing.writeHead(status, {
    ...Object.fromEntries(headers),
    'content-length': Math.max(body.length, 2),
  });
  outgoing.write(body.subarray(0, body.length / 2), () => outgoing.destroy());
}
