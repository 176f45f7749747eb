import { bankDate, untilWorkday } from '../e2e/bank-days.ts';
import { ACCOUNT, type Place } from './bank.ts';

const order = (name: string, place: Place) => [
  ...['transfer', 'create', '--json', '--yes', '--from', ACCOUNT, '--to', 'DE89370400440532013000'],
  ...['--name', name, '--amount', place.amount, '--description', place.name, '--reference', place.name],
];
const standingOrder = (place: Place) =>
  JSON.stringify({
    amount: { currency: 'EUR', amount: place.amount },
    frequency: 'MONTHLY',
    firstExecutionDate: bankDate(untilWorkday()),
    ibanBeneficiary: 'DE89370400440532013000',
    beneficiaryName: 'Ada Lovelace',
    description: place.name,
  });

/** A flow that is stopped at each of its points, and taken up again. */
export interface Scenario {
  name: string;
  kind: 'transfer' | 'consent' | 'operation';
  /** Runs before what is stopped. */
  prepare?: string[];
  begin(place: Place): string[];
  resume: string[];
  /** The state of a flow that came to its end. */
  end: string;
  /** The request that is made at most once, and the event that announces it. */
  decisive: { request: RegExp; announced: string };
  /** How many bookings it makes. */
  bookings: 0 | 1;
  /** The points before this one are another scenario's. */
  from?: string;
}

const executed = {
  decisive: { request: /^PUT .*\/execute$/, announced: 'execute-sent' },
  bookings: 1,
} as const;
const yes = ['--json', '--yes'];

export const TRANSFER: Scenario = {
  name: 'transfer',
  kind: 'transfer',
  begin: (place) => order('Ada Lovelace', place),
  resume: yes,
  end: 'executed',
  ...executed,
};

export const INSTANT: Scenario = {
  name: 'instant transfer',
  kind: 'transfer',
  // Pending at the first poll, so that there is something between two polls.
  begin: (place) => [...order('INSTANT SLOW', place), '--instant', '--payee-verified'],
  resume: [...yes, '--payee-verified'],
  end: 'settled',
  ...executed,
};

/** The bank turns the first `execute` away with 401, and the token is renewed in the middle of the payment. */
export const RENEWAL: Scenario = {
  name: 'transfer with a token renewal at execute',
  kind: 'transfer',
  // Its refresh token is its own: the one of the others stays unspent.
  prepare: ['auth', 'login'],
  begin: (place) => order('EXECUTE 401 ONCE', place),
  resume: yes,
  end: 'executed',
  ...executed,
  from: 'execute-sent',
};

export const OPERATION: Scenario = {
  name: 'standing order with a further verify step',
  kind: 'operation',
  begin: (place) => [
    ...['operation', 'run', 'standingOrder', '--json', '--yes', '--product', ACCOUNT],
    ...['--data', standingOrder(place), '--verify-data', '{"numberOfExecutions":12}'],
  ],
  resume: yes,
  end: 'executed',
  ...executed,
  bookings: 0,
};

export const CONSENT: Scenario = {
  name: 'consent',
  kind: 'consent',
  begin: () => ['consent', 'request', '--json', '--category', 'PAYMENTS', '--product', ACCOUNT],
  resume: ['--json'],
  end: 'confirmed',
  decisive: { request: /^PUT .*\/confirm$/, announced: 'confirm-sent' },
  bookings: 0,
};

export const FLOWS = [TRANSFER, INSTANT, RENEWAL, OPERATION, CONSENT];

/** A login that is stopped at each of its points, and made again. */
export interface LoginScenario {
  name: string;
  begin: string[];
  /** What works with the login from before, whatever became of the new one. */
  works: string[];
}

export const LOGINS: LoginScenario[] = [
  { name: 'login', begin: ['auth', 'login', '--json'], works: ['customer', 'id', '--json'] },
  {
    name: 'login with client credentials',
    begin: ['auth', 'login', '--client-credentials', '--json'],
    works: ['accounts', 'list', '--json', '--grant', 'client_credentials'],
  },
];
