import { describe, expect, test } from 'vitest';
import { BadFault, faultKinds, faultText, parseFault, usageOf } from '../../../src/sandbox/faults/fault.ts';
import { endpointNames, endpointOf, parseTarget, stepNames } from '../../../src/sandbox/faults/target.ts';

function refusalOf(read: () => unknown): { message: string; hint: string } | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (!(error instanceof BadFault)) throw error;
    expect(error.name).toBe('BadFault');
    return { message: error.message, hint: error.hint };
  }
}

describe('the kinds of faults', () => {
  test('each kind says what it does, and what its number is', () => {
    const values = [...faultKinds].map(([name, kind]) => [
      ...[usageOf(name, kind), kind.value && `${kind.value.from} to ${kind.value.to}`],
    ]);
    expect(values.filter(([, range]) => range !== undefined)).toEqual([
      ['delay=<milliseconds>', '1 to 600000'],
      ['clock=<minutes>', '-1440 to 1440'],
      ['status=<status>', '400 to 599'],
      ['delivered-twice-status=<status>', '400 to 599'],
      ['booking=<count>', '1 to 1000'],
      ['executes-late=<minutes>', '1 to 10080'],
      ['sca-fee=<cents>', '1 to 999999'],
      ['finished-unknown=<status>', '403 to 404'],
      ['settling=<count>', '1 to 1000'],
    ]);
    expect(values.filter(([, range]) => range === undefined).map(([usage]) => usage)).toEqual([
      ...['cut-before-effect', 'cut-in-the-middle', 'cut-after-effect', 'wrong-signature', 'wrong-digest'],
      ...['stale-token', 'delivered-twice', 'truncated-json', 'firewall', 'empty', 'no-content'],
      ...['problem-json', 'no-sca', 'other-account', 'other-request-id', 'other-sca-status', 'link-stays'],
      ...['credentials-invalid', 'sca-fails', 'one-method', 'encrypted-pin', 'second-password'],
      ...['no-sca-status', 'latin1', 'latin1-undeclared'],
    ]);
    for (const { says } of faultKinds.values()) expect(says).toMatch(/^\S.{15,}\S$/);
  });

  test('each example is a fault', () => {
    for (const [kind, { value }] of faultKinds)
      if (value) expect(parseFault(`${kind}=${value.example}`)).toEqual({ kind, value: value.example });
  });

  test.each<[text: string, value: number | undefined]>([
    ['delay=1', 1],
    ['delay=600000', 600_000],
    ['delay=0', undefined],
    ['delay=600001', undefined],
    ['delay=0000005', undefined],
    ['delay=1.5', undefined],
    ['delay=1e2', undefined],
    ['delay=5ms', undefined],
    ['delay=', undefined],
    ['delay', undefined],
    ['delay=5=6', undefined],
    ['clock=-7', -7],
    ['clock=+7', 7],
    ['clock=0', 0],
    ['clock=-1440', -1440],
    ['clock=-1441', undefined],
  ])('%s has the number %s', (text, value) => {
    const [kind = ''] = text.split('=');
    const unit = kind === 'delay' ? 'milliseconds' : 'minutes';
    const [range, example] = kind === 'delay' ? ['1 to 600000', '500'] : ['-1440 to 1440', '-7'];
    if (value !== undefined) expect(parseFault(text)).toEqual({ kind, value });
    else
      expect(refusalOf(() => parseFault(text))).toEqual({
        message: `The fault ${kind} needs its ${unit}, a whole number from ${range}`,
        hint: `For example ${kind}=${example}.`,
      });
  });

  test.each([
    ['empty=1', 'The fault empty has no value', 'Write empty alone.'],
    ['empty=', 'The fault empty has no value', 'Write empty alone.'],
  ])('%s is refused', (text, message, hint) => {
    expect(refusalOf(() => parseFault(text))).toEqual({ message, hint });
  });

  test.each(['explode', '', '=5', 'Empty'])('%j is no fault, and the refusal names all', (text) => {
    const usages = [...faultKinds].map(([name, kind]) => usageOf(name, kind)).join(', ');
    expect(refusalOf(() => parseFault(text))).toEqual({
      message: `There is no fault ${JSON.stringify(text)}`,
      hint: `The faults are ${usages}.`,
    });
  });

  test('a fault without a number is written alone', () => {
    expect(parseFault(' empty ')).toEqual({ kind: 'empty', value: 0 });
    expect(faultText({ kind: 'empty', value: 0 })).toBe('empty');
    expect(faultText({ kind: 'clock', value: -7 })).toBe('clock=-7');
  });
});

describe('the calls that a fault applies to', () => {
  const C = '/private/customers/1048262';
  const P = `${C}/products/0010482620`;
  const calls: [name: string, method: string, path: string][] = [
    ['authorize', 'GET', '/auth/oauth/v2/authorize'],
    ['token', 'POST', '/auth/oauth/v2/token'],
    ['revoke', 'POST', '/auth/oauth/v2/token/revoke'],
    ['customerid', 'GET', '/private/customers/customerid-info'],
    ['accounts', 'GET', `${C}/accounts`],
    ['accounts', 'GET', `${C}/products`],
    ['balance', 'GET', `${P}/balance/retrieve`],
    ['transactions', 'GET', `${P}/transactions/retrieve`],
    ['consent-request', 'POST', `${C}/consent/request`],
    ['consent-confirm', 'PUT', `${C}/consent/request/x/confirm`],
    ['approach', 'GET', '/private/auth/security/sca/x/approach'],
    ['status', 'GET', '/private/operations/x/status'],
    ['prepare', 'GET', `${P}/moneyTransfer/prepare`],
    ['verify', 'POST', `${P}/moneyTransfer/verify`],
    ['verify2', 'PUT', `${P}/standingOrder/x/verify2`],
    ['execute', 'PUT', `${P}/moneyTransfer/x/execute`],
    ['execution-status', 'GET', `${P}/moneyTransfer/x/execution/status`],
    ['receipt', 'GET', `${P}/common/printer/x/retrieve`],
  ];

  test('each name is of these calls alone, with or without a query', () => {
    expect([...new Set(calls.map(([name]) => name))]).toEqual(endpointNames);
    for (const [name, method, path] of calls) {
      expect(endpointOf({ method, target: `${path}?a=/x` })).toBe(name);
      const fitting = endpointNames.filter((each) =>
        parseTarget(each).matches({ method, target: `${path}?b` }),
      );
      expect(fitting).toEqual([name]);
      expect(endpointOf({ method: 'DELETE', target: path })).toBeUndefined();
      expect(endpointOf({ method, target: `${path}/more` })).not.toBe(name);
    }
  });

  test.each([
    ['GET', '/x/auth/oauth/v2/authorize'],
    ['POST', '/x/auth/oauth/v2/token'],
    ['POST', '/x/auth/oauth/v2/token/revoke'],
    ['GET', '/customers/a/accounts'],
    ['PUT', `${C}/consent/request/x/y/confirm`],
    ['GET', '/private/auth/security/sca/x/y/approach'],
    ['GET', '/x/private/auth/security/sca/x/approach'],
    ['GET', '/private/operations/x/y/status'],
    ['GET', '/x/private/operations/x/status'],
    ['GET', `${P}/common/printer/x/y/retrieve`],
    ['GET', '/'],
    ['GET', ''],
  ])('%s %s has no name', (method, target) => {
    expect(endpointOf({ method, target })).toBeUndefined();
  });

  test('at the second door a call has its operationId, and its step', () => {
    const call = { method: 'PUT', target: '/', operation: 'getBalances', step: 'tan' };
    expect(stepNames).toEqual(['pin', 'method', 'tan']);
    for (const [text, isIt] of [
      ['getBalances', true],
      ['getAccountList', false],
      ['tan', true],
      ['pin', false],
    ] as const) {
      const target = parseTarget(text);
      expect([target.text, target.matches(call)]).toEqual([text, isIt]);
      expect(target.matches({ method: 'PUT', target: '/' })).toBe(false);
    }
  });

  test.each<[pattern: string, method: string, target: string, isIt: boolean]>([
    ['GET /a', 'GET', '/a?b=c', true],
    ['get /a', 'GET', '/a', true],
    [' GET   /a ', 'GET', '/a', true],
    ['GET /a', 'GET', '/a/b', false],
    ['GET /a', 'GET', '/x/a', false],
    ['GET /a*', 'GET', '/a/b/c', true],
    ['GET /*/c', 'GET', '/a/b/c', true],
    ['GET /*/c', 'GET', '/c', false],
    ['GET *', 'GET', '/anything', true],
    ['GET *', 'PUT', '/anything', false],
    ['* /a', 'DELETE', '/a', true],
    ['GET /a+b(c)[d]{e}|f^g$h\\i.j', 'GET', '/a+b(c)[d]{e}|f^g$h\\i.j', true],
    ['GET /a.c', 'GET', '/abc', false],
    ['GET /a', 'GET', '', false],
  ])('%s and %s %s: %s', (pattern, method, target, isIt) => {
    expect(parseTarget(pattern).matches({ method, target })).toBe(isIt);
    expect(parseTarget(pattern).text).toBe(pattern);
  });

  test.each(['nowhere', '', 'GET', 'GET a', '/a', 'GET /a b', 'G-T /a', 'x GET /a'])(
    '%j is no call',
    (text) => {
      expect(refusalOf(() => parseTarget(text))).toEqual({
        message: `There is no call ${JSON.stringify(text)}`,
        hint: `Use ${[...endpointNames, 'pin', 'method', 'tan'].join(', ')}, or a method and a path such as "GET /private/customers/*".`,
      });
    },
  );
});
