import { randomUUID } from 'node:crypto';
import type { Customer } from '../../customers/seed-customers.ts';
import type { StatePart } from '../../state-part.ts';

/** Many more than anybody looks at. */
const MOST_MESSAGES = 200;

/** What a device of a customer shows: the text of an SMS, the display of a TAN generator, an app. */
export interface DeviceMessage {
  readonly id: string;
  readonly customerId: string;
  readonly at: Date;
  readonly authorisationId: string;
  /** The name of the method. */
  readonly method: string;
  readonly text: string;
  readonly tan: string;
  /** What the app scanned: a PNG in base64. */
  readonly image: string | undefined;
  /** Whether a script has fetched it. */
  read: boolean;
}

/** The devices of all customers. */
export class Devices implements StatePart {
  memory: { messages: DeviceMessage[] } = { messages: [] };

  show(message: Omit<DeviceMessage, 'id' | 'read'>): void {
    this.memory.messages.push({ ...message, id: randomUUID(), read: false });
    if (this.memory.messages.length > MOST_MESSAGES) this.memory.messages.shift();
  }

  /** Oldest first. */
  list(): readonly DeviceMessage[] {
    return this.memory.messages;
  }

  forgetCustomer({ customerId }: Customer): void {
    this.memory.messages = this.memory.messages.filter((one) => one.customerId !== customerId);
  }
}
