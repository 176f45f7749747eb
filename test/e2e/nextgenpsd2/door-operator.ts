import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
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
  let stop = async () => {};
  beforeAll(async () => {
    giveRegistration(operator);
    stop = await operator.openSandbox(['--bank', write('door.json', bank)]);
  });
  afterAll(() => stop());
  return Object.assign(operator, { write });
}
