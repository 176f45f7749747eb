import { doorBankFile } from '../../sandbox/folder/door-bank-file.ts';
import { DOOR_PATH } from '../../sandbox/nextgenpsd2/operations.ts';
import type { ProfileSettings } from '../../store/machine/profiles.ts';
import { contentOfBank, needsClientSecret } from '../open/bank-file.ts';

/**
 * The settings of the profile for the second door (NextGenPSD2, section 5), with the client secret only if its bank wants one.
 *
 * @param first those for the first door
 * @param folder of a sandbox that has started, with the bank file of its door
 */
export async function doorSettings(first: ProfileSettings, folder: string): Promise<ProfileSettings> {
  const { content, description } = await contentOfBank(doorBankFile(folder));
  const { environment, clientSecret, qwacCertificate, qwacKey, qsealCertificate, qsealKey, ca } = first;
  return {
    ...{ bank: content, baseUrl: `${first.baseUrl}${DOOR_PATH}`, environment },
    ...(needsClientSecret(description) && { clientSecret }),
    ...{ qwacCertificate, qwacKey, qsealCertificate, qsealKey, ca },
  };
}
