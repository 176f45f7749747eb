/** `DD/MM/YYYY`, so many days from now in Rome. */
export function bankDate(days: number): string {
  const day = new Date(Date.now() + days * 24 * 60 * 60 * 1000);
  return new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Rome' }).format(day);
}

/** The next Wednesday that is no bank holiday; those around Easter are Fridays and Mondays. */
export function firstWorkday(): string {
  for (let days = 1; ; days += 1) {
    const date = bankDate(days);
    const [day = '', month = ''] = date.split('/');
    const weekday = new Date(Date.now() + days * 24 * 60 * 60 * 1000).getUTCDay();
    if (weekday === 3 && !['01/01', '01/05', '25/12', '26/12'].includes(`${day}/${month}`)) return date;
  }
}
