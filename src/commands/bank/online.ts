import type { ReadBank } from '../../bank-file/bank-file.ts';
import { Psd2Error } from '../../errors.ts';
import type { Context } from '../context.ts';
import { checkConnection } from '../doctor/connection.ts';
import { sayContested } from '../doctor/contested.ts';
import { Diagnosis } from '../doctor/diagnosis.ts';
import { checkKeyIds } from '../doctor/key-id.ts';
import { checkCertificates } from '../doctor/keys.ts';
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
  const keys = await trial.keys();
  await diagnosis.add('QWAC', () => checkCertificates(trial, trial.profile(), keys));
  const refusal = await checkConnection(trial, diagnosis);
  await checkKeyIds(trial, diagnosis, refusal, ['bank', 'check', '--online', named, '--yes']);
  await sayContested(trial, diagnosis, refusal);
  await sayRewritten(trial, diagnosis);
  return diagnosis;
}

/** Consents and transfers whose links are looked at, the newest of each. */
const MOST_FLOWS = 20;

/** Says that the bank's links lead elsewhere, by those that the profile's last consents and transfers keep. The bank is not asked. */
async function sayRewritten(trial: Context, diagnosis: Diagnosis): Promise<void> {
  try {
    const { sca, oddities } = (await trial.applicationBank('authorization_code')).connect();
    const { flows } = await trial.store();
    for (const kind of ['consent', 'transfer'] as const) {
      let looked = 0;
      for await (const { links } of flows.list(kind, { onDamaged: () => {} })) {
        if (links) sca.noteLinks?.(links);
        looked += 1;
        if (looked === MOST_FLOWS) break;
      }
    }
    const names = [...(oddities?.rewritten ?? [])];
    if (names.length === 0) return;
    const detail = `the bank's links lead elsewhere: ${names.join(', ')}. psd2 calls the same at the base URL`;
    await diagnosis.make('links', async () => finding('ok', detail));
  } catch (error) {
    // The profile may have no store yet. What is wrong with it is for `doctor`.
    if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
  }
}
