import type { WireAnswer, WireRequest } from '../../src/bank/transport/line.ts';

/** What a test wants an initiation to be answered. Undefined: the bank takes it. */
export type Answering = (request: WireRequest) => WireAnswer | undefined;

/**
 * A bank without a connection, for tests with a thousand answers: all between a command and the wire is psd2's own. It executes
 * what it takes at once, and a payment for a basket with its basket.
 */
export class BankOfAnswers {
  /** The initiations that the test has answered, in order, with their answers. */
  readonly answered: { request: WireRequest; answer: WireAnswer }[] = [];
  /** How many payments it has executed. */
  executed = 0;
  readonly #answers: Answering;
  /** It executes a payment with its basket only. */
  readonly #isOfBaskets: boolean;
  #waiting = 0;
  #takesAll = false;

  constructor(answers: Answering, isOfBaskets = false) {
    this.#answers = answers;
    this.#isOfBaskets = isOfBaskets;
  }

  /** From now on, it takes all. */
  takeAll(): void {
    this.#takesAll = true;
  }

  /** Answers a request. */
  answer(request: WireRequest): WireAnswer {
    const [path = ''] = request.target.split('?');
    if (request.method === 'POST' && /payments\/[^/]+$|\/signing-baskets$/.test(path))
      return this.#initiated(request, path);
    if (/authorisations\/[^/]+$/.test(path)) return json(request, 200, { scaStatus: 'finalised' });
    if (path.endsWith('authorisations')) return json(request, 200, { authorisationIds: [] });
    return json(request, 200, { transactionStatus: this.#statusOf(path) });
  }

  /** The test has answered with the id of a payment, and perhaps with its end. */
  #statusOf(path: string): string {
    const ofIt = this.answered.find(({ answer }) => path.includes(idIn(answer) ?? '\n'));
    if (ofIt) return /"RJCT"/.test(ofIt.answer.body.toString()) ? 'RJCT' : 'ACSC';
    return this.#waiting > 0 ? 'RCVD' : 'ACSC';
  }

  #initiated(request: WireRequest, path: string): WireAnswer {
    const answer = this.#takesAll ? undefined : this.#answers(request);
    if (answer) {
      this.answered.push({ request, answer });
      return answer;
    }
    const id = { [path.endsWith('baskets') ? 'basketId' : 'paymentId']: crypto.randomUUID() };
    if (!path.endsWith('baskets')) this.#waiting += 1;
    if (this.#isOfBaskets && !path.endsWith('baskets'))
      return json(request, 201, { ...id, transactionStatus: 'RCVD' });
    this.executed += this.#waiting;
    this.#waiting = 0;
    return json(request, 201, { ...id, transactionStatus: 'ACSC' });
  }
}

function idIn({ body }: WireAnswer): string | undefined {
  return /"(?:payment|basket)Id":"([^"]+)"/.exec(body.toString('utf8'))?.[1];
}

function json({ headers }: WireRequest, status: number, body: object): WireAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json', 'x-request-id': headers['x-request-id'] ?? '' },
    body: Buffer.from(JSON.stringify(body)),
  };
}
