import { expect, test } from 'vitest';
import {
  faultyCalls,
  magicFaultKinds,
  type Plan,
  plannedOutcomes,
  planOf,
} from '../../../src/sandbox/operations/plan.ts';
import {
  foreignCharacter,
  isSepaIban,
  readSepaAmount,
  SEPA_AMOUNTS,
  SEPA_CHARACTERS,
  sepaCountryCodes,
} from '../../../src/sandbox/operations/sepa.ts';
import { COMMISSIONS, totalOf } from '../../../src/sandbox/operations/transfer.ts';

const OUTCOMES: [name: string, plan: Plan][] = [
  ['SCA REFUSED', { sca: 'NOT_AUTHORIZED' }],
  ['SCA EXPIRED', { sca: 'EXPIRED' }],
  ['SCA PENDING', { sca: 'PENDING' }],
  ['VERIFY WARNING', { verify: 'warning' }],
  ['VERIFY SECOND STEP', { verify: 'verify2' }],
  ['EXECUTE REFUSED', { execute: 'refused' }],
  ['INSTANT KO', { settlement: 'KO' }],
  ['INSTANT NOW', { settlement: 'at once' }],
  ['INSTANT SLOW', { settlement: 'slow' }],
  ['INSTANT PENDING', { settlement: 'late' }],
];

test('these are the names that plan an outcome', () => {
  expect(plannedOutcomes).toEqual(OUTCOMES.map(([name]) => name));
  for (const [name, plan] of OUTCOMES) {
    expect(planOf(name)).toEqual(plan);
    expect(planOf(`  ${name.toLowerCase().replaceAll(' ', '   ')} `)).toEqual(plan);
    for (const other of [`${name}S`, `A ${name}`, `${name} ONCE`, name.replace(' ', '')])
      expect(planOf(other)).toEqual({});
  }
});

test('each call of a flow can have each fault, for each call or the first', () => {
  expect(faultyCalls).toEqual(['VERIFY', 'APPROACH', 'STATUS', 'EXECUTE', 'EXECUTION STATUS']);
  expect(magicFaultKinds).toEqual(['204', '401', '403', '420', '500', 'EMPTY', 'LOST']);
  for (const call of faultyCalls)
    for (const kind of magicFaultKinds) {
      expect(planOf(`${call} ${kind}`)).toEqual({ fault: { call, kind, once: false } });
      expect(planOf(`${call} ${kind} once`)).toEqual({ fault: { call, kind, once: true } });
      for (const other of [
        `${call} ${kind}ONCE`,
        `${call} ${kind} ONCE ONCE`,
        `${kind} ${call}`,
        `${call} 404`,
      ])
        expect(planOf(other)).toEqual({});
    }
});

test.each(['', ' ', 'ONCE', ' ONCE', 'STATUS', 'EMPTY', 'Mario Rossi'])(
  'the name %j plans nothing',
  (name) => {
    expect(planOf(name)).toEqual({});
  },
);

test('SEPA has these countries, and no account elsewhere', () => {
  expect(sepaCountryCodes.toSorted().join(' ')).toBe(
    'AD AL AT BE BG CH CY CZ DE DK EE ES FI FR GB GI GR HR HU IE IS IT LI LT LU LV MC MD ME MK MT NL NO PL PT RO RS SE SI SK SM VA',
  );
  for (const [iban, isOne] of [
    ['DE89370400440532013000', true],
    ['RS35260005601001611379', true],
    ['SA0380000000608010167519', false],
    ['DE88370400440532013000', false],
    ['', false],
  ] as const)
    expect([iban, isSepaIban(iban)]).toEqual([iban, isOne]);
});

test('SEPA allows these characters, and the first other one is named', () => {
  const characters = Array.from({ length: 0x250 }, (_, code) => String.fromCodePoint(code));
  const allowed = characters.filter((one) => foreignCharacter(one) === undefined).join('');
  expect(allowed).toBe(" '()+,-./0123456789:?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
  for (const [text, first] of [
    ['', undefined],
    ['a b', undefined],
    ['aé&', 'é'],
    ['&é', '&'],
    ['a😀', '😀'],
    ['a\n', '\n'],
  ] as const)
    expect([text, foreignCharacter(text)]).toEqual([text, first]);
  expect(SEPA_CHARACTERS).toBe("a-z A-Z 0-9 / - ? : ( ) . , ' + and space");
});

test.each<[text: string, cents: number | undefined]>([
  ['0.01', 1],
  ['0.1', 10],
  ['1', 100],
  ['10.50', 1050],
  ['999999999.99', 99_999_999_999],
  ['1000000000', undefined],
  ['0', undefined],
  ['0.00', undefined],
  ['00.01', undefined],
  ['01', undefined],
  ['1.', undefined],
  ['1.001', undefined],
  ['.01', undefined],
  ['-1', undefined],
  ['+1', undefined],
  ['1,00', undefined],
  [' 1', undefined],
  ['1 ', undefined],
  ['1e2', undefined],
  ['', undefined],
])('the amount %j is %s cents', (text, cents) => {
  expect(readSepaAmount(text)).toBe(cents);
});

test('a transfer costs its amount and the fee, and the limits are in words', () => {
  expect(COMMISSIONS).toBe(50);
  expect(totalOf({ amount: 12_34, commissions: 50 })).toBe(12_84);
  expect(SEPA_AMOUNTS).toBe('a decimal from 0.01 to 999999999.99 with a point and at most two decimals');
});
