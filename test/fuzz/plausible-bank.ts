import type { Heard } from '../hostile/hostile-bank.ts';
import { PRODUCT } from '../hostile/hostile-bank.ts';

export const euros = (amount: string) => ({ amount, currency: 'EUR' });
/** A transaction as a bank may write it. */
export const row = {
  index: '1',
  shortDescription: 'Rent',
  extendedDescription: 'of May',
  amountTransaction: euros('-12.300'),
  dateAccountingCurrency: '20240630T00:00:00',
  dateLiquidationValue: '30/06/2024',
  codeDescription: 'TRANSFER',
  idMoneyTransfer: 'x1',
  isFeeCharge: false,
};
const DATA: [path: RegExp, data: object][] = [
  [
    /\/token$/,
    { access_token: 'abc', token_type: 'Bearer', expires_in: 600, refresh_token: 'def', rt_expires_in: 9 },
  ],
  [/\/revoke$/, { tokenType: 'access_token', operationOutcome: 'OK' }],
  [/\/customerid-info$/, { customerid: '1048262' }],
  [
    /\/accounts$/,
    {
      accounts: [{ accountId: PRODUCT, currency: 'EUR', iban: 'IT60', name: 'Mine', product: { code: 'C' } }],
    },
  ],
  [/\/balance\/retrieve$/, { accountBalance: euros('1.000'), date: '30/06/2024', hour: '10:15' }],
  [
    /\/transactions\/retrieve$/,
    { transactionsAccounting: [row], transactionsNotAccounting: [row], nextAccounting: 0 },
  ],
  [/\/prepare$/, { today: '30/06/2024', holidays: ['25/12/2024'], currency: { selected: 'EUR' } }],
  [/\/verify\d*$/, { totalAmount: euros('6.50'), commissions: { commissions: '0.50', currency: 'EUR' } }],
  [/\/approach$/, { chosenScaApproach: 'REDIRECT', scaRedirectURL: 'https://bank.example/sca' }],
  [/\/execution\/status$/, { executionStatus: 'OK', executionStatusDescription: 'Done' }],
  [/\/status$/, { authorizationStatus: 'AUTHORIZED', executionStatus: 'PENDING' }],
  [/\/execute$/, { cro: 'CRO1' }],
  [/\/request$/, { categoriesOutcome: [{ name: 'ACCOUNT_INFO', outcome: true }] }],
];

let resources = 0;

/** The resource that a call is about, or a new one: a bank gives each flow its own. */
function resourceOf(path: string): string {
  const named = /\/(r-\d+)(?:\/|$)/.exec(path)?.[1];
  if (named !== undefined) return named;
  resources += 1;
  return `r-${resources}`;
}

/** What a working bank answers to a call: an envelope, as a value. */
export function plausibleAnswer({ target }: Pick<Heard, 'target'>): object {
  const path = target.split('?', 1)[0] ?? '';
  const resourceId = resourceOf(path);
  return {
    result: {
      outcome: 'SUCCESS',
      requestId: '012345678901234567890123',
      messages: [{ code: 'I1', message: 'For your information', type: 'INFO' }],
    },
    data: DATA.find(([pattern]) => pattern.test(path))?.[1] ?? {},
    resources: { resourceId },
    _links: { self: { href: ' ' }, next: { href: `${resourceId}/execute`, method: 'PUT' } },
    _embedded: { polling: { href: 'x', method: 'GET' } },
  };
}
