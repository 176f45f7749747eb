import type { OddLinks } from '../../bank/ports/customer.ts';
import type { ReadBank } from '../../bank-file/bank-file.ts';
import { Psd2Error } from '../../errors.ts';
import { bankFor } from '../../flows/consent/by-links.ts';
import { certificates } from '../checks/certificates.ts';
import { examine, openSubject } from '../checks/check.ts';
import { connection } from '../checks/connection.ts';
import { sayContested } from '../checks/contested.ts';
import { Diagnosis } from '../checks/diagnosis.ts';
import { checkKeyIds } from '../checks/key-id.ts';
import { signature } from '../checks/signature.ts';
import type { Context } from '../context.ts';
import { foreignLinks } from '../open/oddities.ts';
import { finding } from '../shared/checks.ts';

/**
 * Checks a bank with a bank file, as `psd2 doctor` does: certificates, connection and signature. The certificates are those of
 * the profile, and its base URL counts if the file has none.
 *
 * @param named the bank file, as the operator named it
 * @throws Psd2Error `no_profile`, `config` without a profile that can be read
 */
export async function diagnoseBank(
  context: Context,
  named: string,
  { file, description }: ReadBank,
): Promise<Diagnosis> {
  const { name, settings } = await context.unsealed();
  const baseUrl = description.api.baseUrl ?? settings.baseUrl;
  const trial = context.forProfile({
    name,
    settings: { ...settings, bank: JSON.stringify(file), ...(baseUrl !== undefined && { baseUrl }) },
  });
  const diagnosis = new Diagnosis();
  const subject = openSubject(trial, diagnosis);
  await examine(subject, [certificates, connection, signature]);
  await checkKeyIds(subject, ['bank', 'check', '--online', named, '--yes']);
  await sayContested(subject);
  await sayOddLinks(trial, diagnosis);
  return diagnosis;
}

/** Consents and transfers whose links are looked at, the newest of each. */
const MOST_FLOWS = 20;

/** Says which of the bank's links lead elsewhere, by those that the profile's last consents and transfers keep. The bank is not asked. */
async function sayOddLinks(trial: Context, diagnosis: Diagnosis): Promise<void> {
  try {
    const rewritten = new Set<string>();
    const foreign = new Map<string, string>();
    const note = (links: OddLinks | undefined) => {
      for (const name of links?.rewritten ?? []) rewritten.add(name);
      for (const [name, href] of links?.foreign ?? []) if (!foreign.has(name)) foreign.set(name, href);
    };
    const bank = (await trial.applicationBank('authorization_code')).connect();
    const { flows } = await trial.store();
    const onDamaged = () => {};
    for await (const consent of newest(flows.list('consent', { onDamaged }))) {
      const { links, resourceId } = consent;
      if (links && resourceId) note(bankFor(bank, consent).sca.oddLinks?.(resourceId, links));
    }
    for await (const transfer of newest(flows.list('transfer', { onDamaged }))) {
      const { links, verification } = transfer;
      if (links && verification)
        note(bank.payments.transfer(transfer).sca?.oddLinks?.(verification.resourceId, links));
    }
    const detail = `the bank's links lead elsewhere: ${[...rewritten].join(', ')}. psd2 calls the same at the base URL`;
    if (rewritten.size > 0) await diagnosis.make('links', async () => finding('ok', detail));
    for (const each of foreignLinks({ foreign }))
      await diagnosis.make('links', async () => finding('warn', each, OWN_PATHS));
  } catch (error) {
    // The profile may have no store yet. What is wrong with it is for `doctor`.
    if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
  }
}

const OWN_PATHS = {
  hint: 'If the bank has the operation at another path, name it in api.paths of the bank file.',
};

async function* newest<Flow>(flows: AsyncIterable<Flow>): AsyncGenerator<Flow> {
  let count = 0;
  for await (const flow of flows) {
    yield flow;
    count += 1;
    if (count === MOST_FLOWS) return;
  }
}
