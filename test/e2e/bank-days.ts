/** `YYYY-MM-DD`: so many calendar days from the bank's today; before it, with a negative number. */
export function bankDay(days: number): string {
  return new Date(midnight(days)).toISOString().slice(0, 10);
}

/** The same as `DD/MM/YYYY`. */
export function bankDate(days: number): string {
  return bankDay(days).split('-').reverse().join('/');
}

/** How many days it is until the next Wednesday that is no bank holiday; those around Easter are Fridays and Mondays. */
export function untilWorkday(): number {
  for (let days = 1; ; days += 1) {
    const isHoliday = ['01/01', '01/05', '25/12', '26/12'].includes(bankDate(days).slice(0, 5));
    if (new Date(midnight(days)).getUTCDay() === 3 && !isHoliday) return days;
  }
}

/** In UTC, where every day has 24 hours: in Rome one of a year has 23, another 25. */
function midnight(days: number): number {
  const today = new Intl.DateTimeFormat('en-CA', { timeZone: 'Europe/Rome' }).format(Date.now());
  return Date.parse(`${today}T00:00:00Z`) + days * 24 * 60 * 60 * 1000;
}
