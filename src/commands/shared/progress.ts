const BAR_WIDTH = 20;

/** For example `[=====>              ]`. */
export function drawBar(all: number, done: number): string {
  const filled = all === 0 ? BAR_WIDTH : Math.floor((done / all) * BAR_WIDTH);
  return `[${`${'='.repeat(filled)}${filled < BAR_WIDTH ? '>' : ''}`.padEnd(BAR_WIDTH)}]`;
}

/** For example `, 1 min left`. Empty while nothing is done. */
export function writeLeft(all: number, done: number, milliseconds: number): string {
  return done === 0 ? '' : `, ${writeDuration((milliseconds / 1000 / done) * (all - done))} left`;
}

function writeDuration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
