import { addDays, addMonths, type IsoDate, isBusinessDay, nextBusinessDay } from '../../ledger/bank-time.ts';

/** How often a periodic payment pays (NextGenPSD2, `frequencyCode`). The sandbox has no `MonthlyVariable`. */
const STEPS = {
  Daily: { days: 1 },
  Weekly: { days: 7 },
  EveryTwoWeeks: { days: 14 },
  Monthly: { months: 1 },
  EveryTwoMonths: { months: 2 },
  Quarterly: { months: 3 },
  SemiAnnual: { months: 6 },
  Annual: { months: 12 },
} as const;

export type Frequency = keyof typeof STEPS;

export const FREQUENCIES: readonly [Frequency, ...Frequency[]] = [
  'Daily',
  'Weekly',
  'EveryTwoWeeks',
  'Monthly',
  'EveryTwoMonths',
  'Quarterly',
  'SemiAnnual',
  'Annual',
];

/** When a periodic payment pays. */
export interface StandingRule {
  startDate: IsoDate;
  /** Undefined: without end. */
  endDate: IsoDate | undefined;
  frequency: Frequency;
  /** Of the month; 31 is its last day. Undefined: the day of `startDate`. */
  dayOfExecution: number | undefined;
  /** Where a payment goes whose day is not a business day. Undefined: it stays. */
  executionRule: 'following' | 'preceding' | undefined;
}

/** The day of a payment, counted from 0. Undefined: the order has ended. */
export function dayOfPayment(rule: StandingRule, number: number): IsoDate | undefined {
  const day = plannedDay(rule, number);
  return rule.endDate !== undefined && day > rule.endDate ? undefined : moved(day, rule.executionRule);
}

function plannedDay({ startDate, frequency, dayOfExecution }: StandingRule, number: number): IsoDate {
  const step = STEPS[frequency];
  if ('days' in step) return addDays(startDate, number * step.days);
  if (dayOfExecution === undefined) return addMonths(startDate, number * step.months);
  const inMonth = (month: IsoDate) => `${month.slice(0, 8)}${String(dayOfExecution).padStart(2, '0')}`;
  const first = addMonths(inMonth(startDate), 0);
  const begin = first < startDate ? 1 : 0;
  return addMonths(inMonth(startDate), begin + number * step.months);
}

function moved(day: IsoDate, rule: StandingRule['executionRule']): IsoDate {
  if (rule === undefined || isBusinessDay(day)) return day;
  if (rule === 'following') return nextBusinessDay(day);
  let former = day;
  while (!isBusinessDay(former)) former = addDays(former, -1);
  return former;
}
