import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll } from 'vitest';
import * as z from 'zod';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { keepRunning, type Operator, useSandbox } from '../support/psd2.ts';

const environment = z.record(z.string(), z.string());

const consent = z.looseObject({ flow: z.string(), state: z.string() });

export const accounts = z.array(z.object({ accountId: z.string(), iban: z.string().nullable() }));

export interface AtSecondDoor extends Operator {
  /** Asks for a consent, which the customer gives. */
  request(...args: string[]): Promise<z.infer<typeof consent>>;
}

/**
 * An operator with a sandbox whose second door they use.
 *
 * @param rules options of `sandbox start`
 * @param file the fields of a bank file that the door plays
 */
export function useSecondDoor(rules: string[] = [], file?: object): AtSecondDoor {
  const operator = keepRunning(useSandbox(file ? [...rules, '--bank', written(file)] : rules));
  beforeAll(async () => {
    const env = await operator.json(environment, ['sandbox', 'env', '--interface', 'nextgenpsd2']);
    Object.assign(operator.env, env, { PSD2_PROFILE: 'env' });
  });
  return Object.assign(operator, {
    request: (...args: string[]) => operator.json(consent, ['consent', 'request', '--yes', ...args]),
  });
}

function written(file: object): string {
  const path = join(temporaryFolder(), 'bank.json');
  writeFileSync(path, JSON.stringify({ interface: 'nextgenpsd2', ...file }));
  return path;
}
