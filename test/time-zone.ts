import { onTestFinished } from 'vitest';

/** Lets the rest of a test run in another time zone. A computer in UTC would not notice a mix of the two. */
export function moveToZone(zone: string): void {
  const { TZ } = process.env;
  onTestFinished(() => {
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
  });
  process.env.TZ = zone;
}
