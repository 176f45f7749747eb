import type { BankHead, Description } from '../../../../bank-file/description.ts';
import { isObject } from '../../../../bank-file/values.ts';
import type { EmbeddedCustomers } from '../../../../domain/embedded.ts';
import { inconsistencies, whyNotPossible } from './consistency.ts';
import { proofOf } from './proof.ts';
import { type BankDescription, type BankFile, bankFile } from './schema.ts';

const LOGINS = {
  none: '',
  integrated: '',
  'pre-step': ', after a login with OAuth',
  'client-credentials': ", with the application's token",
};

/** How NextGenPSD2 describes its banks. */
export const nextgenpsd2: Description<BankDescription, BankFile> = {
  // A build makes a function of a schema, which makes it when it is first asked for.
  get schema() {
    return bankFile;
  },
  inconsistencies,
  whyNotPossible,
  login: ({ sca, oauth }) =>
    `${sca.approaches.map((each) => (each === 'oauth' ? 'OAuth' : each)).join(', ')}${LOGINS[oauth.mode]}`,
  credentials: credentialsAt,
  proof: proofOf,
  // A file may take `same-answer` back. Then the minutes below it have no meaning.
  inherited(below, { payments }) {
    if (payments?.repeat !== 'unknown' || !isObject(below.payments)) return below;
    const { repeatMinutes: _repeatMinutes, ...others } = below.payments;
    return { ...below, payments: others };
  },
};

/** What a bank's customers may have to give psd2. Null: nothing. */
export function credentialsAt({ sca: { approaches }, psu, api }: BankDescription): EmbeddedCustomers | null {
  if (!approaches.includes('embedded')) return null;
  return { isAlone: approaches.length === 1, label: psu.label, address: api.baseUrl };
}

/** Whether a description is one of NextGenPSD2: a bank file names its interface, and only its schema lets it through. */
export function isNextGenPsd2(bank: BankHead | undefined): bank is BankDescription {
  return bank?.interface === 'nextgenpsd2';
}
