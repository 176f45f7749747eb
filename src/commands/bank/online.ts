import type { ReadBank } from '../../bank-file/bank-file.ts';
import type { Context } from '../context.ts';
import { checkConnection } from '../doctor/connection.ts';
import { Diagnosis } from '../doctor/diagnosis.ts';
import { checkKeyIds } from '../doctor/key-id.ts';
import { checkCertificates } from '../doctor/keys.ts';

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
  return diagnosis;
}
