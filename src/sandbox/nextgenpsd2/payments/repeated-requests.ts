import { createHash } from 'node:crypto';
import type { StatePart } from '../../state-part.ts';
import { header } from '../../strict/headers.ts';
import type { RawRequest } from '../../strict/raw-request.ts';
import type { DoorAnswer } from '../door-call.ts';
import type { DoorRules } from '../door-rules.ts';
import { DoorRefusal } from '../refusal.ts';

interface Answered {
  content: string;
  at: Date;
  answer: DoorAnswer;
}

/**
 * The initiations that the bank knows again (`payments.repeat`): the same bytes with the same `X-Request-ID` get the same answer
 * for `payments.repeatMinutes`. Another bank makes a second payment.
 */
export class RepeatedRequests implements StatePart {
  memory = { answered: new Map<string, Answered>() };
  readonly #now: () => Date;
  readonly #minutes: number | undefined;

  constructor({ now, description: { payments } }: { now: () => Date } & Pick<DoorRules, 'description'>) {
    this.#now = now;
    this.#minutes = payments.repeat === 'same-answer' ? payments.repeatMinutes : undefined;
  }

  /**
   * The answer to a call: the former one if the bank knows it again, else what `serve` gives.
   *
   * @throws DoorRefusal `FORMAT_ERROR` if the same id came with other bytes; what `serve` throws
   */
  answer(request: RawRequest, serve: () => DoorAnswer): DoorAnswer {
    if (this.#minutes === undefined) return serve();
    const id = (header(request, 'x-request-id') ?? '').toLowerCase();
    const content = fingerprint(request);
    const former = this.memory.answered.get(id);
    if (former && this.#now().getTime() - former.at.getTime() <= this.#minutes * 60_000) {
      if (former.content === content) return former.answer;
      throw new DoorRefusal(
        'FORMAT_ERROR',
        'Another call with this X-Request-ID initiated another payment',
        'Expected: the same bytes.',
        { path: 'X-Request-ID' },
      );
    }
    const answer = serve();
    this.memory.answered.set(id, { content, at: this.#now(), answer });
    return answer;
  }

  /** The bank knows a call again by its id, whoever the customer is. */
  forgetCustomer(): void {}
}

function fingerprint({ target, body }: RawRequest): string {
  return `${target} ${createHash('sha256').update(body).digest('hex')}`;
}
