import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseDate } from '../../src/domain/calendar.ts';
import { CallCounter } from '../../src/store/files/call-counter.ts';
import { newConfigFolder, temporaryFolder } from './temporary-folder.ts';

const temporary = temporaryFolder();
const today = parseDate('--date', '2026-11-21');
const tomorrow = parseDate('--date', '2026-11-22');

it('counts the calls of a day and a profile', () => {
  const folder = newConfigFolder(temporary);
  const counter = new CallCounter(folder, 'bank');
  expect(counter.callsOn(today)).toBe(0);
  for (let call = 0; call < 3; call += 1) counter.count(today);
  // Another process counts along.
  new CallCounter(folder, 'bank').count(today);
  expect(counter.callsOn(today)).toBe(4);
  expect(counter.callsOn(tomorrow)).toBe(0);
  expect(new CallCounter(folder, 'other').callsOn(today)).toBe(0);
});

it('begins anew each day, and keeps no other day', () => {
  const folder = newConfigFolder(temporary);
  const counter = new CallCounter(folder, 'bank');
  counter.count(today);
  counter.count(tomorrow);
  expect([counter.callsOn(today), counter.callsOn(tomorrow)]).toEqual([0, 1]);
});

it('is kept for its owner alone', () => {
  const folder = newConfigFolder(temporary);
  new CallCounter(folder, 'bank').count(today);
  const place = join(folder.tokens('bank'), 'client-credentials-calls');
  expect(statSync(place).mode & 0o777).toBe(0o700);
  expect(readdirSync(place).map((file) => statSync(join(place, file)).mode & 0o777)).toEqual([0o600]);
});
