import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { giveRegistration, keepRunning, type Operator, useOperator } from '../support/psd2.ts';

/** An operator with the profile of a second door that plays a bank file. */
export function useDoor(bank: object): Operator & { write: (name: string, content: object) => string } {
  const operator = keepRunning(useOperator());
  operator.env.PSD2_PROFILE = 'sandbox-nextgen';
  /** Writes a bank file. @returns its path */
  const write = (name: string, content: object) => {
    const path = join(operator.folder, name);
    writeFileSync(path, JSON.stringify({ interface: 'nextgenpsd2', ...content }));
    return path;
  };
  beforeAll(async () => {
    giveRegistration(operator);
    const start = ['sandbox', 'start', '--detach', '--port', '0', '--bank', write('door.json', bank)];
    const started = await operator.psd2(start);
    expect(started, started.stderr).toMatchObject({ code: 0 });
  });
  afterAll(async () => {
    const stopped = await operator.psd2(['sandbox', 'stop']);
    expect(stopped, stopped.stderr).toMatchObject({ code: 0 });
  });
  return Object.assign(operator, { write });
}
