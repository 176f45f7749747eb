import { hostname, userInfo } from 'node:os';
import { comparableName, type Person } from '../../domain/batch/batch.ts';
import { Psd2Error } from '../../errors.ts';
import { actorOf } from '../../store/machine/actor.ts';
import type { Audit } from '../../store/ports/audit.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context } from '../context.ts';

/**
 * Who runs this command.
 *
 * @param by the name that the person gave; without it, `PSD2_OPERATOR`, else the system user
 * @throws Psd2Error `invalid_text` for a name that is none
 */
export function personOf({ env }: Pick<Context, 'env'>, by: string | undefined): Person {
  const { operator, machine } = actorOf(env);
  const name = by === undefined ? operator : cleanText(by).trim();
  if (comparableName(name) === '' || name.length > 100)
    throw new Psd2Error('invalid_text', '--by must be a name of 1 to 100 characters');
  return { by: name, user: operatorOf().user, machine };
}

/** Adds what a person did with a batch to the audit log. @throws Psd2Error `config` */
export async function auditBatch(
  { audit }: { audit: Audit },
  action: 'added' | 'approved' | 'rejected' | 'cancelled' | 'paid',
  { batch, sha256 }: { batch: string; sha256: string },
  { by }: Pick<Person, 'by'>,
  more = '',
): Promise<void> {
  // The id of a batch begins with the hash of its content.
  const what = batch === sha256 ? `batch ${batch}` : `batch ${batch}, content ${sha256}`;
  await audit.append({ action, about: `${what}, by ${by}${more}` });
}

/** Who runs psd2: the operating system's user, and the host's name. */
export function operatorOf(): { user: string; machine: string } {
  let user: string;
  try {
    user = userInfo().username;
  } catch {
    // In a container a user may have no name.
    user = String(process.getuid?.() ?? 'unknown');
  }
  return { user: cleanText(user), machine: cleanText(hostname()) };
}
