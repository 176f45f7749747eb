import { bankDate, untilWorkday } from '../e2e/support/bank-days.ts';
import { ACCOUNT, type Place } from './bank.ts';
import { CONSENT_REQUEST, INSTANTLY, transferOrder } from './gateway.ts';

const standingOrder = (place: Place) =>
  JSON.stringify({
    amount: { currency: 'EUR', amount: place.amount },
    frequency: 'MONTHLY',
    firstExecutionDate: bankDate(untilWorkday()),
    ibanBeneficiary: 'DE89370400440532013000',
    beneficiaryName: 'Ada Lovelace',
    description: place.name,
  });

/** A flow that is stopped at each of its points, and then resumed. */
export interface Scenario {
  name: string;
  kind: 'transfer' | 'consent' | 'operation';
  /** Runs before the command that is stopped. */
  prepare?: string[];
  begin(place: Place): string[];
  resume: string[];
  /** The state of a flow that succeeded. */
  end: string;
  /** The request that is made at most once, and the event that announces it. */
  decisive: { request: RegExp; announced: string };
  /** How many bookings it makes. */
  bookings: 0 | 1;
  /** Earlier points belong to another scenario. */
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
  begin: (place) => transferOrder(place),
  resume: yes,
  end: 'executed',
  ...executed,
};

export const INSTANT: Scenario = {
  name: 'instant transfer',
  kind: 'transfer',
  // The first poll finds the transfer pending, so there are points between two polls.
  begin: (place) => transferOrder(place, INSTANTLY, 'INSTANT SLOW'),
  resume: [...yes, '--payee-verified'],
  end: 'settled',
  ...executed,
};

/** The bank refuses the first `execute` with 401, and psd2 renews the token in the middle of the payment. */
export const RENEWAL: Scenario = {
  name: 'transfer with a token renewal at execute',
  kind: 'transfer',
  // A login of its own, so the refresh token of the other places stays unspent.
  prepare: ['auth', 'login'],
  begin: (place) => transferOrder(place, [], 'EXECUTE 401 ONCE'),
  resume: yes,
  end: 'executed',
  ...executed,
  from: 'execute-sent',
};

export const OPERATION: Scenario = {
  name: 'standing order with a further verify step',
  kind: 'operation',
  begin: (place) => [
    ...['operation', 'run', 'standingOrder', '--json', '--yes', '--account', ACCOUNT],
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
  begin: () => CONSENT_REQUEST,
  resume: ['--json'],
  end: 'confirmed',
  decisive: { request: /^PUT .*\/confirm$/, announced: 'confirm-sent' },
  bookings: 0,
};

export const FLOWS = [TRANSFER, INSTANT, RENEWAL, OPERATION, CONSENT];

/** A login that is stopped at each of its points, and then repeated. */
export interface LoginScenario {
  name: string;
  begin: string[];
  /** Commands that work with the earlier login, whatever happened to the new one. */
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
