import { setTimeout as wait } from 'node:timers/promises';

/** Longer than the tests of any one file take. */
const MARGIN_SECONDS = 5 * 60;

const timeOfDay = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Rome', timeStyle: 'medium' });

/** The seconds until the bank's next day begins. */
function secondsLeft(): number {
  const [hours = 0, minutes = 0, seconds = 0] = timeOfDay.format(Date.now()).split(':').map(Number);
  return 24 * 60 * 60 - (hours * 60 + minutes) * 60 - seconds;
}

// Vitest runs this before each file. A file's orders are for the bank's today, which refuses those of yesterday: if the day
// is about to end, the file begins on the next one.
while (secondsLeft() < MARGIN_SECONDS) await wait(1000);
