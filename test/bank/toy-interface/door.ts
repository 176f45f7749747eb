import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { jsonAnswer, type OutgoingAnswer } from '../../../src/sandbox/answers/outgoing.ts';
import type { Bank } from '../../../src/sandbox/bank.ts';
import { payOut } from '../../../src/sandbox/operations/transfer.ts';
import type { DoorSeed } from '../../../src/sandbox/seed/seed-fields.ts';
import type { Door } from '../../../src/sandbox/server/pipeline.ts';
import { Shelf } from '../../../src/sandbox/shelf.ts';
import { DoorMemory } from '../../../src/sandbox/state-part.ts';
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
  back: string;
  status: 'open' | 'authorised' | 'paid';
  customerId?: string;
  /** Of the login. */
  code?: string;
  token?: string;
  order?: z.infer<typeof order> | undefined;
}

/** What the door remembers. */
const memory = new DoorMemory(() => ({ asked: new Shelf<Asked>(({ customerId }) => [customerId]) }));
const askedAt = (bank: Pick<Bank, 'parts'>) => memory.of(bank).asked;

/** A customer of a seed file can have a token. */
const fields = { toyToken: z.optional(z.string()) };
const seed: DoorSeed<Pick<Bank, 'parts'>> = {
  fields,
  give(bank, { customerId }, given) {
    const { toyToken } = z.object(fields).parse(given);
    const about = { id: randomUUID(), back: 'http://127.0.0.1/', status: 'authorised', customerId } as const;
    if (toyToken !== undefined) askedAt(bank).keep({ ...about, token: toyToken });
  },
};

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

/** The toy's door of the sandbox. */
export class ToyDoor {
  readonly memory = memory;
  readonly seed = seed;
  /** The paths of all calls, in their order. */
  readonly calls: string[] = [];
  /** The answers to these calls, one after the other, are not the toy's. */
  readonly loses: string[] = [];

  #bank: Bank | undefined;

  readonly open = async (bank: Bank): Promise<Door> => {
    this.#bank = bank;
    return {
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
      owner: {
        calls: ['POST /toy/payments'],
        flows: (most) => {
          const all = askedAt(bank).list().slice(-most);
          const about = all.map(({ id, status, customerId = '' }) => {
            const customer = bank.customers.find(customerId)?.user ?? '';
            return { ...{ id, type: 'consent', status, customer }, ...{ until: '', accounts: 0 } };
          });
          return { title: 'Toy', requests: [], payments: [], consents: about };
        },
        paid: () => [],
        revokeAll: () => 0,
      },
    };
  };

  /** The customer says yes to what a link shows. @returns where their browser goes */
  approve(id: string, customerId: string): URL {
    if (!this.#bank) throw new TypeError('No bank has this door');
    const asked = this.#find(this.#bank, id);
    const code = randomUUID();
    Object.assign(asked, { status: 'authorised', customerId, code });
    const back = new URL(asked.back);
    back.searchParams.set('code', code);
    return back;
  }

  #find(bank: Bank, id: string): Asked {
    const asked = askedAt(bank).find(id);
    if (!asked) throw new ToyError(404, 'unknown');
    return asked;
  }

  #serve(bank: Bank, call: string, request: RawRequest): OutgoingAnswer {
    const body: unknown = request.body.length > 0 ? JSON.parse(request.body.toString()) : undefined;
    const id = /[0-9a-f-]{36}/.exec(request.target)?.[0] ?? '';
    const bearer = header(request, 'authorization')?.replace('Bearer ', '') ?? '';
    const token = askedAt(bank)
      .list()
      .find((each) => each.token === bearer);
    switch (call) {
      case 'POST /toy/payments':
        return this.#ask(bank, { order: order.parse(body), back: order.parse(body).back });
      case 'POST /toy/consents':
        return this.#ask(bank, z.object({ back: z.string() }).parse(body));
      case 'GET /toy/payments/{id}':
      case 'GET /toy/consents/{id}':
        return jsonAnswer(200, { status: this.#find(bank, id).status });
      case 'POST /toy/token': {
        const { code } = z.object({ code: z.string() }).parse(body);
        const asked = askedAt(bank)
          .list()
          .find((each) => each.code === code);
        if (!asked) throw new ToyError(400, 'code');
        asked.token = randomUUID();
        return jsonAnswer(200, { token: asked.token });
      }
      case 'POST /toy/payments/{id}/execution': {
        const asked = this.#find(bank, id);
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
    askedAt(bank).keep({ id, back, status: 'open', ...more });
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
