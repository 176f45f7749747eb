import chalk from 'chalk';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CONSENTS } from '../../src/commands/consent/consents.ts';
import { OPERATIONS } from '../../src/commands/operation/operations.ts';
import { TRANSFERS } from '../../src/commands/transfer/transfers.ts';
import { paintState } from '../../src/terminal/output/states.ts';
import { drawColouredCells, drawTerminalTable } from '../../src/terminal/output/table.ts';

const level = chalk.level;
beforeEach(() => {
  chalk.level = 1;
});
afterEach(() => {
  chalk.level = level;
});

const GREEN = '\u001b[32m';
const YELLOW = '\u001b[33m';
const RED = '\u001b[31m';
const END = '\u001b[39m';

it.each([
  [GREEN, ['settled', 'confirmed', 'executed', 'good', 'ok']],
  [YELLOW, 'created verified requested authorizing authorized executing confirming unknown'.split(' ')],
  [YELLOW, ['pending', 'waiting', 'to be renewed', 'not known', 'warn']],
  [RED, ['failed', 'rejected', 'expired', 'refused', 'renewal refused', 'call refused', 'fail']],
])('the colour %j stands for the states %j', (colour, states) => {
  expect(states.map(paintState)).toEqual(states.map((state) => `${colour}${state}${END}`));
});

it.each(['cancelled', 'skip', '2026-11-21', '', 'constructor'])('%j has no colour', (text) => {
  expect(paintState(text)).toBe(text);
});

describe('states in a list', () => {
  const columns = [{ title: 'STATE', kind: 'state' }, { title: 'NAME' }] as const;
  const rows = [
    ['settled', 'settled'],
    ['failed', 'Ada'],
  ];

  it('in a list only the state column has colours, and they take no width', () => {
    const drawn = drawTerminalTable([...columns], rows, { width: 80, colour: true }).split('\n');
    expect(drawn.slice(1)).toEqual([`${GREEN}settled${END}  settled`, `${RED}failed${END}   Ada`]);
  });

  it('in a list that is drawn as one record a row, a state has its colour too', () => {
    const drawn = drawTerminalTable([...columns], rows, { width: 12, colour: true });
    expect(drawn).toContain(`${GREEN}settled${END}`);
  });

  it('in a list without colours, a state has none', () => {
    const drawn = (colour: boolean) => drawTerminalTable([...columns], rows, { width: 80, colour });
    expect(drawn(false)).not.toContain('\u001b');
    expect(drawn(true)).toContain('\u001b');
  });

  it('in a pipe with FORCE_COLOR, a state has its colour', () => {
    expect(drawColouredCells([...columns], rows)).toBe(
      `${GREEN}settled${END}\tsettled\n${RED}failed${END}\tAda`,
    );
  });
});

it.each([
  ['transfers', TRANSFERS],
  ['operations', OPERATIONS],
  ['consents', CONSENTS],
])('the list of %s never leaves out flow, state, amount and payee', (_name, noun) => {
  const columns: { title: string; dispensable?: number }[] = noun.listed.columns;
  const kept = columns.filter(({ dispensable }) => dispensable === undefined).map(({ title }) => title);
  const needed = ['FLOW', 'STATE', 'AMOUNT', 'TO'];
  expect(kept).toEqual(
    expect.arrayContaining(needed.filter((title) => columns.some((column) => column.title === title))),
  );
});
