import { once } from 'node:events';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
// The sandbox's answers import this too. It must load before the listener replaces the global `Response`.
import '@hono/node-server/utils/response';
import type {
  BankSide,
  LoginRequest,
  ScaRequest,
  ScaState,
} from '../../src/sandbox/customer-site/bank-side.ts';
import { customerSite } from '../../src/sandbox/customer-site/site.ts';

export const RESOURCE = '5a0c1f8e-3b7d-4d52-9a63-7d1f0c2b9e44';

export const payment: Extract<ScaRequest, { kind: 'payment' }> = {
  kind: 'payment',
  resourceId: RESOURCE,
  tppName: 'Fintrek S.r.l.',
  customerName: 'Anna Esposito',
  operation: 'moneyTransfer',
  instant: true,
  beneficiaryName: 'Officina Bianchi & Figli',
  beneficiaryIban: 'IT60X0542811101000000123456',
  amount: { amount: '1250.40', currency: 'EUR' },
  commissions: { amount: '1.50', currency: 'EUR' },
  total: { amount: '1251.90', currency: 'EUR' },
  executionDate: '2026-11-21',
  description: 'Invoice 2026/118',
  debitAccount: { productId: '0010482620', iban: 'IT12A0999001600000010482620' },
};

const current = {
  productId: '0010482620',
  description: 'Current account',
  iban: 'IT12A0999001600000010482620',
};
const card = { productId: '0000093017', description: 'Credit card', iban: 'IT12A0999001600000010482620' };

export const consent: Extract<ScaRequest, { kind: 'consent' }> = {
  ...{ kind: 'consent', resourceId: RESOURCE, until: '2027-05-20' },
  ...{ tppName: 'Fintrek S.r.l.', customerName: 'Anna Esposito' },
  categories: [
    { name: 'ACCOUNT_INFO', products: [current, card] },
    { name: 'PAYMENTS', products: [current] },
  ],
};

/** A bank in memory. It has one login request, `L1`, and one SCA, and records what was decided. */
export interface FakeBank extends BankSide {
  login: LoginRequest;
  sca: { request: ScaRequest; state: ScaState };
  /** `allow L1 1048262`, `refuse L1`, `approve <uuid>`, `refuse <uuid>`, in order. */
  decisions: string[];
}

/** @param callback the provider's redirect URI. */
export function fakeBank(callback: string): FakeBank {
  const decide = (decision: string, query: Record<string, string>): URL => {
    bank.decisions.push(decision);
    const url = new URL(callback);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
  };
  let open = true;
  const bank: FakeBank = {
    login: { id: 'L1', tppName: 'Fintrek S.r.l.', applicationName: 'fintrek-treasury' },
    sca: { request: payment, state: 'PENDING' },
    decisions: [],
    logins: () => [
      { user: 'anna', password: 'anna-sandbox', name: 'Anna Esposito', customerId: '1048262' },
      { user: 'bruno', password: 'bruno-sandbox', name: 'Bruno Conti', customerId: '2073915' },
    ],
    loginRequest: (id) => (open && id === bank.login.id ? bank.login : undefined),
    authenticate: (user, password) =>
      bank.logins().find((login) => login.user === user && login.password === password),
    allowLogin: (id, customerId) => {
      open = false;
      return decide(`allow ${id} ${customerId}`, { code: 'the-code', state: 'the-state' });
    },
    refuseLogin: (id) => {
      open = false;
      return decide(`refuse ${id}`, { error: 'access_denied', state: 'the-state' });
    },
    scaRequest: (id) => (id === bank.sca.request.resourceId ? bank.sca : undefined),
    approveSca: (id) => {
      bank.sca = { ...bank.sca, state: 'AUTHORIZED' };
      return decide(`approve ${id}`, { state: 'the-state' });
    },
    refuseSca: (id) => {
      bank.sca = { ...bank.sca, state: 'NOT_AUTHORIZED' };
      return decide(`refuse ${id}`, { state: 'the-state' });
    },
  };
  return bank;
}

/** A server on a free loopback port. */
export interface Served {
  /** `http://127.0.0.1:<port>` */
  origin: string;
  close(): Promise<void>;
}

/** Serves the customer site of a bank over real HTTP. */
export function serveSite(bank: BankSide): Promise<Served> {
  const answer = getRequestListener(customerSite(bank).fetch);
  return serve((request, response) => void answer(request, response));
}

/** Serves HTTP with a plain listener. */
export async function serve(listener: Parameters<typeof createServer>[1]): Promise<Served> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port');
  return {
    origin: `http://127.0.0.1:${address.port}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
