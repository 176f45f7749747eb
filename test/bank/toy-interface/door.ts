import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { jsonAnswer, type OutgoingAnswer } from '../../../src/sandbox/answers/outgoing.ts';
import type { Bank } from '../../../src/sandbox/bank.ts';
import { payOut } from '../../../src/sandbox/operations/transfer.ts';
import type { Door } from '../../../src/sandbox/server/pipeline.ts';
import { header } from '../../../src/sandbox/strict/headers.ts';
import type { RawRequest } from '../../../src/sandbox/strict/raw-request.ts';

const order = z.object({
  iban: z.string(),
  to: z.string(),
  name: z.string(),
  cents: z.int(),
  back: z.string(),
});

/** What a customer authorises with a link: a consent, or one payment. Its login gives a token for it alone. */
interface Asked {
  id: string;
  back: URL;
  status: 'open' | 'authorised' | 'paid';
  customerId?: string;
  order?: z.infer<typeof order> | undefined;
}

class ToyError extends Error {
  readonly status: number;
  constructor(status: number, code: string) {
    super(code);
    this.status = status;
  }
}

function nameOf({ method, target }: RawRequest): string {
  return `${method} ${target.replace(/[0-9a-f-]{36}/, '{id}')}`;
}

/** The toy's door of the sandbox, with what it remembers. */
export class ToyDoor {
  readonly asked = new Map<string, Asked>();
  /** What each code and token is for. */
  readonly #codes = new Map<string, Asked>();
  readonly #tokens = new Map<string, Asked>();
  /** The paths of all calls, in their order. */
  readonly calls: string[] = [];
  /** The answers to these calls, one after the other, are not the toy's. */
  readonly loses: string[] = [];

  readonly open = (bank: Bank): Door => ({
    isFor: (target) => target.startsWith('/toy/'),
    meet: ({ request }) => {
      const call = nameOf(request);
      this.calls.push(call);
      return {
        operation: call,
        customerId: undefined,
        check: () => () => ({ serve: () => this.#serve(bank, call, request), magic: undefined }),
      };
    },
    refuse: (error) => jsonAnswer(error instanceof ToyError ? error.status : 500, { error: error.message }),
    fail: (status) => jsonAnswer(status, { error: 'failed' }),
    seal: ({ headers }, { request }) => {
      if (this.loses[0] === nameOf(request)) this.loses.shift();
      else headers.set('x-toy', 'yes');
    },
  });

  /** The customer says yes to what a link shows. @returns where their browser goes */
  approve(id: string, customerId: string): URL {
    const asked = this.#find(id);
    Object.assign(asked, { status: 'authorised', customerId });
    const code = randomUUID();
    this.#codes.set(code, asked);
    const back = new URL(asked.back);
    back.searchParams.set('code', code);
    return back;
  }

  #find(id: string): Asked {
    const asked = this.asked.get(id);
    if (!asked) throw new ToyError(404, 'unknown');
    return asked;
  }

  #serve(bank: Bank, call: string, request: RawRequest): OutgoingAnswer {
    const body: unknown = request.body.length > 0 ? JSON.parse(request.body.toString()) : undefined;
    const id = /[0-9a-f-]{36}/.exec(request.target)?.[0] ?? '';
    const token = this.#tokens.get(header(request, 'authorization')?.replace('Bearer ', '') ?? '');
    switch (call) {
      case 'POST /toy/payments':
        return this.#ask(bank, { order: order.parse(body), back: order.parse(body).back });
      case 'POST /toy/consents':
        return this.#ask(bank, z.object({ back: z.string() }).parse(body));
      case 'GET /toy/payments/{id}':
      case 'GET /toy/consents/{id}':
        return jsonAnswer(200, { status: this.#find(id).status });
      case 'POST /toy/token': {
        const asked = this.#codes.get(z.object({ code: z.string() }).parse(body).code);
        if (!asked) throw new ToyError(400, 'code');
        const value = randomUUID();
        this.#tokens.set(value, asked);
        return jsonAnswer(200, { token: value });
      }
      case 'POST /toy/payments/{id}/execution': {
        const asked = this.#find(id);
        if (token !== asked) throw new ToyError(401, 'token');
        if (asked.status !== 'authorised') throw new ToyError(409, 'status');
        this.#pay(bank, asked);
        return jsonAnswer(200, { receipt: `toy-${id.slice(0, 8)}` });
      }
      default:
        if (!token?.customerId) throw new ToyError(401, 'token');
        return this.#read(bank, call, token.customerId);
    }
  }

  #ask(bank: Bank, { back, ...more }: { back: string } & Pick<Asked, 'order'>): OutgoingAnswer {
    const id = randomUUID();
    this.asked.set(id, { id, back: new URL(back), status: 'open', ...more });
    return jsonAnswer(201, { id, link: `${bank.customerSiteUrl}/toy?request=${id}` });
  }

  #pay(bank: Bank, asked: Asked): void {
    const customer = bank.customers.find(asked.customerId ?? '');
    const product = customer?.products.find(({ iban }) => iban === asked.order?.iban);
    if (!customer || !product || !asked.order) throw new ToyError(409, 'account');
    const { to, name, cents } = asked.order;
    const transfer = { beneficiaryIban: to, beneficiaryName: name, description: '', instant: false };
    const at = bank.now();
    payOut(
      bank,
      { customer, product },
      { ...transfer, amount: cents, commissions: 0 },
      { reference: asked.id, at, bookedFrom: at },
    );
    asked.status = 'paid';
  }

  #read(bank: Bank, call: string, customerId: string): OutgoingAnswer {
    const products = bank.customers.find(customerId)?.products ?? [];
    if (call === 'GET /toy/accounts')
      return jsonAnswer(200, { accounts: products.map(({ productId: id, iban }) => ({ id, iban })) });
    const product = products.find(({ productId }) => call === `GET /toy/accounts/${productId}`);
    if (!product) throw new ToyError(404, 'account');
    const { booked } = bank.ledger.balance(product, bank.now());
    return jsonAnswer(200, { cents: booked });
  }
}
