/** `YYYY-MM-DD`, this many calendar days after the bank's today; a negative number gives a day before it. */
export function bankDay(days: number): string {
  return new Date(midnight(days)).toISOString().slice(0, 10);
}

/** The same day as `DD/MM/YYYY`. */
export function bankDate(days: number): string {
  return bankDay(days).split('-').reverse().join('/');
}

/** The number of days until the next Wednesday that is not a bank holiday. Those around Easter are Fridays and Mondays. */
export function untilWorkday(): number {
  for (let days = 1; ; days += 1) {
    const isHoliday = ['01/01', '01/05', '25/12', '26/12'].includes(bankDate(days).slice(0, 5));
    if (new Date(midnight(days)).getUTCDay() === 3 && !isHoliday) return days;
  }
}

/** The number of days until the bank's next day with this number in its month, such as the 15th; 0 on that day. */
export function untilDayOfMonth(number: number): number {
  for (let days = 0; ; days += 1) if (new Date(midnight(days)).getUTCDate() === number) return days;
}

/** In UTC, where every day has 24 hours. In Rome, one day of the year has 23 hours and one has 25. */
function midnight(days: number): number {
  const today = new Intl.DateTimeFormat('en-CA', { timeZone: 'Europe/Rome' }).format(Date.now());
  return Date.parse(`${today}T00:00:00Z`) + days * 24 * 60 * 60 * 1000;
}
