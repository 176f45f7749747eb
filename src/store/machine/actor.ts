import { hostname, userInfo } from 'node:os';
import { Psd2Error } from '../../errors.ts';
import type { Actor } from '../ports/audit.ts';
import type { Environment } from './settings.ts';

declare const PSD2_VERSION: string;

const MAX_OPERATOR = 100;

/** Who runs this psd2 (operations page, "Who did it"). @throws Psd2Error `usage` if `PSD2_OPERATOR` is no name */
export function actorOf({ PSD2_OPERATOR: named }: Environment): Actor {
  const user = userName();
  return {
    operator: named ? readOperator(named) : user,
    user,
    machine: withoutControls(hostname()),
    // The tests run the sources, which no build has given a version.
    version: typeof PSD2_VERSION === 'string' ? PSD2_VERSION : '0.0.0',
  };
}

function readOperator(named: string): string {
  const operator = withoutControls(named).trim();
  if (operator !== '' && operator.length <= MAX_OPERATOR) return operator;
  throw new Psd2Error(
    'usage',
    operator === '' ? 'PSD2_OPERATOR is empty' : `PSD2_OPERATOR has ${operator.length} characters`,
    { hint: `Set it to the name of the person or job, at most ${MAX_OPERATOR} characters, or unset it.` },
  );
}

/** The operating system's user. */
function userName(): string {
  try {
    return withoutControls(userInfo().username);
  } catch {
    // In a container a user may have no name.
    return String(process.getuid?.() ?? 'unknown');
  }
}

function withoutControls(text: string): string {
  // V8 builds the classes of Unicode when they are first needed.
  return /^[\x20-\x7e]*$/.test(text) ? text : text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '');
}
