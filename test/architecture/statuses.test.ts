import { readFileSync } from 'node:fs';
import { parseSync } from 'oxc-parser';
import { expect, it } from 'vitest';
import { sourceFiles } from '../../scripts/docs/imports.ts';
import { isWithin } from '../../scripts/docs/walls.ts';

// What an answer proves is decided in one room of each interface. Nothing else looks at an HTTP status.

/** The rooms that may: the judge of each interface, what sends and repeats calls, and servers of psd2's own. */
const ROOMS = [
  'bank/call',
  'bank/interfaces/cb',
  'bank/interfaces/nextgenpsd2/judge',
  'bank/transport',
  'callback',
  'sandbox',
];

/** Single files that may, because nothing that they find out is about a payment or a consent of ours. */
const FILES: Readonly<Record<string, string>> = {
  'bank/interfaces/nextgenpsd2/readings/accounts.ts': 'a reading: the bank has no cards',
  'bank/interfaces/nextgenpsd2/wire/calls.ts': 'a reading: the account is a card',
  'bank/interfaces/nextgenpsd2/consents/funds.ts': 'a confirmation of funds: the bank wants a consent for it',
  'bank/interfaces/nextgenpsd2/access/oauth.ts': 'a login: the page of the bank redirects',
  'bank/interfaces/nextgenpsd2/wire/refusals.ts': 'the words of an error whose code says nothing',
  'bank/interfaces/nextgenpsd2/reports/format.ts': 'a reading: the bank has another format',
  'bank/interfaces/nextgenpsd2/readings/transactions.ts': 'a reading: the bank gives the lists one by one',
  'commands/log/select-calls.ts': 'which lines of the log are shown',
  'commands/open/call-records.ts': 'the count of readings a day',
  'smoke/shapes.ts': 'forms of answers',
  'smoke/stats.ts': 'figures of calls',
};

type Tree = Readonly<Record<string, unknown>>;
const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null;

const COMPARING = ['===', '!==', '<', '<=', '>', '>=', '==', '!='];

/** Whether a part of a source compares a status with a number, or lists statuses. */
function looksAtStatus(tree: unknown): boolean {
  return isTree(tree) && (isLook(tree) || Object.values(tree).some(looksAtStatus));
}

function isLook({ type, operator, left, right, elements, test }: Tree): boolean {
  switch (type) {
    case 'BinaryExpression':
      if (!COMPARING.includes(String(operator))) return false;
      return (isStatus(left) && isNumber(right)) || (isNumber(left) && isStatus(right));
    case 'ArrayExpression':
      return Array.isArray(elements) && elements.length > 1 && elements.every(isOfRefusal);
    case 'SwitchCase':
      return isOfRefusal(test);
    default:
      return false;
  }
}

/** Whether something is named as a status is: `status`, `answer.status`, `(httpStatus ?? 0)`. */
function isStatus(value: unknown): boolean {
  if (!isTree(value)) return false;
  const { type, name, property, expression, left } = value;
  switch (type) {
    case 'Identifier':
      return /status$/i.test(String(name));
    case 'MemberExpression':
      return isStatus(property);
    case 'ParenthesizedExpression':
    case 'ChainExpression':
      return isStatus(expression);
    case 'LogicalExpression':
      return isStatus(left);
    default:
      return false;
  }
}

function isNumber(value: unknown, from = 100, to = 600): boolean {
  if (!isTree(value) || value.type !== 'Literal' || typeof value.value !== 'number') return false;
  return Number.isInteger(value.value) && value.value >= from && value.value <= to;
}

/** Whether it is the number of a status that is no success. Others are numbers of many things. */
function isOfRefusal(value: unknown): boolean {
  return isNumber(value, 400, 520);
}

const looksIn = (text: string) => looksAtStatus(parseSync('x.ts', text).program.body);

it.each([
  ['if (status >= 200) x()', true],
  ['if (200 <= answer.status) x()', true],
  ['if (error?.status === 404) x()', true],
  ['const is = (error.httpStatus ?? 0) === 404', true],
  ['const HAS_NONE = [404, 405, 501]', true],
  ['switch (code) { case 404: x() }', true],
  ['if (answer.status === other.status) x()', false],
  ['if (length > 200) x()', false],
  ['const sizes = [16, 100]', false],
])('%s: a look at a status is found: %s', (text, expected) => {
  expect(looksIn(text)).toBe(expected);
});

it('no source but the judges looks at the status of an answer, save these', () => {
  const looking = sourceFiles()
    .filter((file) => !ROOMS.some((room) => isWithin(file, room)))
    .filter((file) => looksIn(readFileSync(`src/${file}`, 'utf8')));
  expect(looking.toSorted()).toEqual(Object.keys(FILES).toSorted());
});
