import { describe, expect, it } from 'vitest';
import { isAway, isLost, isPassing, isUnsent, storeFailure } from '../../../src/store/postgres/failure.ts';

// What psd2 does after each error of PostgreSQL, of the connection and of TLS, and what it says.

const coded = (code: string) => Object.assign(new Error(`error ${code}`), { code });

/** Nothing was sent, and it may succeed in a moment. */
const UNSENT = ['ECONNREFUSED', 'ENOENT', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', '57P03', '53300'];
/** It may have taken effect. It may succeed in a moment. */
const LOST = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', '57P01', '57P02', '08000', '08003', '08006'];
/** The operator must do something. */
const FINAL = [
  ...['ENOTFOUND', '28P01', '28000', '3D000', '3F000', '42P01', '42501', 'PD003', 'PD004', 'PD005', '25006'],
  ...['53100', '53200', '57014', '23505', '40001', 'CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ...['INVALID_PURPOSE', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ...['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'ERR_TLS_CERT_ALTNAME_INVALID'],
];
const OUTCOMES = { 'never arrived': UNSENT, 'may have taken effect': LOST, 'is not made again': FINAL };

describe('a statement', () => {
  it.each(Object.entries(OUTCOMES).flatMap(([outcome, codes]) => codes.map((code) => ({ outcome, code }))))(
    'that failed with $code $outcome',
    ({ outcome, code }) => {
      const error = coded(code);
      expect([isPassing(error), isLost(error), isUnsent(error)]).toEqual([
        outcome !== 'is not made again',
        ...[outcome === 'may have taken effect', outcome === 'never arrived'],
      ]);
      expect(isAway(storeFailure('db:5432/bank', error))).toBe(outcome !== 'is not made again');
    },
  );

  // The driver gives these errors no code.
  it.each([
    ['timeout exceeded when trying to connect', true],
    ['Query read timeout', true],
    ['Connection terminated unexpectedly', true],
    ['Client has encountered a connection error and is not queryable', true],
    ['The server does not support SSL connections', false],
    ['SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string', false],
  ])('that failed with "%s" may have taken effect: %s', (text, lost) => {
    expect([isLost(new Error(text)), isUnsent(new Error(text))]).toEqual([lost, false]);
  });
});

describe('what psd2 says of a failure', () => {
  const said = (error: unknown) => {
    const { code, message, context } = storeFailure('db:5432/bank', error);
    return [code, message, context.hint, ...(context.next ?? []).flat()].join(' | ');
  };

  it.each([
    ['ECONNREFUSED', 'cannot be reached: nothing listens there'],
    ['ENOENT', 'cannot be reached: there is no such socket'],
    ['ENOTFOUND', 'cannot be reached: the host name is not known'],
    ['EAI_AGAIN', 'cannot be reached: the host name cannot be looked up'],
    ['ETIMEDOUT', 'cannot be reached: it does not answer'],
    ['ECONNRESET', 'has closed the connection'],
    ['28P01', 'refuses the password'],
    ['28000', 'does not let this user in'],
    ['3D000', 'has no such database'],
    ['42P01', 'has no tables of psd2'],
    ['42501', 'does not let this user do that'],
    ['PD003', 'does not let this user do that with a batch'],
    ['PD004', 'refuses to begin a payment of a batch that too few people have approved'],
    ['PD005', 'refuses an event of a batch that psd2 does not write'],
    ['25006', 'is a read-only replica'],
    ['53100', 'has a full disk'],
    ['53300', 'accepts no more connections'],
    ['57P01', 'is being stopped'],
    ['57P02', 'has been stopped'],
    ['57P03', 'is starting'],
    ['57014', 'took too long for a statement'],
    ['99999', 'says: error 99999'],
  ])('%s: it %s', (code, what) => {
    expect(said(coded(code))).toMatch(new RegExp(`^config \\| PostgreSQL at db:5432/bank ${what} \\| .+`));
  });

  it.each([
    ['PD001', 'The store in PostgreSQL at db:5432/bank was copied to /new, and is no longer used'],
    ['PD002', 'The copy of the store in /new into PostgreSQL at db:5432/bank is not complete'],
  ])('%s names both stores', (code, message) => {
    expect(storeFailure('db:5432/bank', Object.assign(new Error('/new'), { code })).message).toBe(message);
  });

  it.each([
    ['3F000', 'store | init'],
    ['42P01', 'store | init'],
    ['42501', 'store | init | --roles'],
    ['PD003', 'grant psd2_approver to <user>.'],
  ])('%s ends with what helps: %s', (code, end) => {
    expect(said(coded(code)).endsWith(end)).toBe(true);
  });
});
