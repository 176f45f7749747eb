import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { accountHistory } from '../../src/domain/account-history.ts';
import { drawAccountChart } from '../../src/terminal/output/chart.ts';
import { booking, bookings, decimalOf, range } from '../domain/bookings.ts';

type Rows = Parameters<typeof accountHistory>[0];

/** Draws the chart of an account. @param cents its balance at the end; null if the bank gives none */
function draw(
  rows: Rows,
  cents: number | null,
  days: Parameters<typeof range>,
  width: number,
  blocks: boolean,
) {
  const history = accountHistory(rows, cents === null ? null : decimalOf(cents), range(...days));
  return drawAccountChart(history, 'EUR', { width, blocks });
}

describe('the chart of an account', () => {
  it('the chart of an account fits the width, in blocks or in ASCII, whatever was booked', () => {
    fc.assert(
      fc.property(
        bookings,
        fc.integer({ min: -10_000_000, max: 10_000_000 }),
        fc.integer({ min: 40, max: 200 }),
        fc.boolean(),
        (rows, cents, width, blocks) => {
          const lines = draw(rows, cents, ['2026-01-01', '2026-03-31'], width, blocks);
          for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(width);
          if (!blocks) expect(lines.join('')).toMatch(/^[ -~]*$/);
        },
      ),
    );
  });

  it('the chart of an account shows the balance by day, and money in and out by month', () => {
    const rows = [booking('2026-02-01', '-40.00'), booking('2026-01-30', '80.00')];
    expect(draw(rows, 8000, ['2026-01-29', '2026-02-01'], 60, false)).toEqual([
      'Balance in EUR: 40.00 to 80.00',
      '',
      '120 |    ########',
      ...Array(2).fill('    |    ########'),
      ...Array(3).fill('    |    ############'),
      '    |....############',
      ...Array(2).fill('    |################'),
      '  0 |################',
      '    +----------------',
      '           2026-02-01',
      '',
      'Money in and out by month in EUR:',
      '',
      '2026-01  +80.00  +++++++++++++++++++++++++++++++++++++++++++',
      '          -0.00',
      '2026-02   +0.00',
      '         -40.00  ----------------------',
    ]);
  });

  it('the chart of an account goes below zero, and says if the bank gives no balance', () => {
    const lines = draw([], -500, ['2026-01-01', '2026-01-03'], 60, true);
    expect(lines[2]).toBe(' 0 │████████████');
    expect(lines).toContain('-5 │████████████');
    const [first] = draw([], null, ['2026-01-01', '2026-01-03'], 60, true);
    expect(first).toBe('The bank gives no balance of this product.');
  });

  it('in blocks, a day shows parts of a cell, and a bar below zero hangs from it', () => {
    const rows = [
      ...[booking('2026-01-02', '-13.00'), booking('2026-01-03', '2.00')],
      ...[booking('2026-01-04', '-1.60'), booking('2026-02-05', '9.10')],
    ];
    expect(draw(rows, 650, ['2026-01-01', '2026-02-06'], 80, true)).toEqual([
      'Balance in EUR: 10.00 to 6.50',
      '',
      '10 │██',
      '   │██',
      '   │██                                                                    ▂▂▂▂',
      '   │██                                                                    ████',
      '   │██                                                                    ████',
      '   │██                                                                    ████',
      '   │██                                                                    ████',
      '   │██▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂████',
      '   │  ██▔▔████████████████████████████████████████████████████████████████',
      '-3 │  ██  ████████████████████████████████████████████████████████████████',
      '   └──────────────────────────────────────────────────────────────────────────',
      '    2026-01-01                                                      2026-02-06',
      '',
      'Money in and out by month in EUR:',
      '',
      '2026-01   +2.00  █████████',
      '         -14.60  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░',
      '2026-02   +9.10  ███████████████████████████████████████',
      '          -0.00',
    ]);
  });

  it('as ASCII, a part of a cell is a dot or a whole', () => {
    const rows = [...Array(8).keys()].map((index) => booking(`2026-01-0${index + 2}`, '1.25'));
    expect(draw(rows, 1000, ['2026-01-01', '2026-01-09'], 40, false).slice(2, 12)).toEqual([
      '10 |                        ###',
      '   |                     ######',
      '   |                  #########',
      '   |               ...#########',
      '   |               ############',
      '   |            ###############',
      '   |         ##################',
      '   |      #####################',
      '   |   ...#####################',
      ' 0 |   ########################',
    ]);
  });

  it('in blocks, each eighth of a cell has its character', () => {
    const rows = [...Array(8).keys()].map((index) => booking(`2026-01-0${index + 2}`, '1.125'));
    rows.push(booking('2026-01-10', '1.000'));
    expect(draw(rows, 1000, ['2026-01-01', '2026-01-10'], 40, true).slice(2, 12)).toEqual([
      '10 │                           ███',
      '   │                        ██████',
      '   │                     ▇▇▇██████',
      '   │                  ▆▆▆█████████',
      '   │               ▅▅▅████████████',
      '   │            ▄▄▄███████████████',
      '   │         ▃▃▃██████████████████',
      '   │      ▂▂▂█████████████████████',
      '   │   ▁▁▁████████████████████████',
      ' 0 │   ███████████████████████████',
    ]);
  });

  it('without money, the chart is empty', () => {
    expect(draw([], 0, ['2026-01-01', '2026-01-07'], 24, false)).toEqual([
      'Balance in EUR: 0.00 to 0.00',
      '',
      '0 |',
      ...Array(8).fill('  |'),
      '0 |',
      '  +--------------',
      '       2026-01-07',
      '',
      'Money in and out by month in EUR:',
      '',
      '2026-01  +0.00',
      '         -0.00',
    ]);
  });
});
