import { describe, expect, it } from 'vitest';
import { compareClocks } from '../../../src/commands/doctor/connection.ts';

// The bank's Date has no milliseconds, which is half a second on average.
const DATE = 'Sat, 21 Nov 2026 10:05:00 GMT';
const BANK_TIME = Date.parse(DATE) + 500;

describe("this clock against the bank's", () => {
  it.each([
    [0, 'ok', '0 s ahead of the bank'],
    [5_000, 'ok', '5 s ahead of the bank'],
    [5_001, 'warn', '5 s ahead of the bank'],
    [60_000, 'warn', '60 s ahead of the bank'],
    [60_001, 'fail', '60 s ahead of the bank'],
    [-5_000, 'ok', '5 s behind the bank'],
    [-5_001, 'warn', '5 s behind the bank'],
    [-60_000, 'warn', '60 s behind the bank'],
    [-60_001, 'fail', '60 s behind the bank'],
    [-86_400_000, 'fail', '86400 s behind the bank'],
  ])('for a clock that is %i ms off, the result is: %s', (milliseconds, status, detail) => {
    const finding = compareClocks(new Date(BANK_TIME + milliseconds), DATE);
    expect(finding).toMatchObject({ status, detail });
    if (status === 'ok') expect(finding.fix).toBeNull();
    else expect(finding.fix?.hint).toMatch(/^Set the clock/);
    expect(finding.code).toBe(status === 'fail' ? 'config' : undefined);
  });

  it.each([undefined, '', 'soon'])("psd2 does not compare the clocks if the bank's Date is %j", (date) => {
    expect(compareClocks(new Date(BANK_TIME), date)).toEqual({
      status: 'skip',
      detail: 'the bank sent no Date',
      fix: null,
    });
  });
});
