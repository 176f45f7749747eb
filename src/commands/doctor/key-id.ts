import type { BankFile } from '../../bank-file/schema.ts';
import { Psd2Error } from '../../errors.ts';
import type { Profile } from '../../store/machine/settings.ts';
import type { Context } from '../context.ts';
import type { Diagnosis, Finding } from './diagnosis.ts';

type KeyId = NonNullable<NonNullable<BankFile['signing']>['keyId']>;

/** The standard's form. A bank file must say each value, because it may inherit another one. */
const STANDARD: KeyId = {
  ...({ form: 'sn-ca', serial: 'hex', case: 'lower', dn: 'issuer' } as const),
  ...({ format: 'rfc2253', spaces: 'keep', separator: ',' } as const),
};
/** The forms of `keyId` that were seen at banks (NextGenPSD2, section 1), as a bank file writes each. */
const FORMS: readonly KeyId[] = [
  STANDARD,
  { ...STANDARD, case: 'upper' },
  { ...STANDARD, serial: 'decimal' },
  { ...STANDARD, spaces: 'percent' },
  { ...STANDARD, spaces: 'strip' },
  { ...STANDARD, dn: 'subject' },
  { ...STANDARD, separator: ', ' },
  { form: 'organization-id' },
];
const NAME = 'keyId';

/**
 * After the bank has refused a signature: finds the form of `keyId` that it takes. Each try is a call, so the operator confirms
 * first.
 *
 * @param again the command that tries them, for an operator whom psd2 cannot ask
 */
export async function checkKeyIds(
  context: Context,
  diagnosis: Diagnosis,
  refusal: Psd2Error | undefined,
  again: string[],
): Promise<void> {
  if (refusal === undefined || !isAboutKey(refusal)) return;
  await diagnosis.make(NAME, async (): Promise<Finding> => {
    const { globals, terminal } = context;
    const what = `the ${FORMS.length} forms of keyId that banks are known to take. Each try is a call to the bank`;
    if (!globals.yes && !terminal.canAsk)
      return {
        status: 'skip',
        detail: `psd2 can try ${what}`,
        fix: { hint: 'Try them with:', next: [again] },
      };
    if (!globals.yes && !(await terminal.confirm(`The bank refused the signature. Try ${what}?`)))
      return { status: 'skip', detail: 'no other form was tried', fix: null };
    return findForm(context);
  });
}

/** Whether another `keyId` may help. */
function isAboutKey({ context: { bankCode } }: Psd2Error): boolean {
  return bankCode === 'SIGNATURE_INVALID' || bankCode === 'KID_MISSING' || bankCode === 'KID_INVALID';
}

async function findForm(context: Context): Promise<Finding> {
  for (const form of FORMS) {
    if (!(await isTaken(context, form))) continue;
    return {
      status: 'ok',
      detail: `the bank takes the signature with "signing": {"keyId": ${JSON.stringify(form)}}`,
      fix: { hint: 'Write this into the bank file.' },
    };
  }
  return {
    status: 'fail',
    detail: `the bank takes the signature with none of the ${FORMS.length} forms of keyId`,
    fix: { hint: 'See docs/banks.md: the headers to sign, the algorithm or the certificate may be others.' },
  };
}

/** Makes the call of the diagnosis with another form. @throws Psd2Error if the bank fails, or cannot be reached */
async function isTaken(context: Context, keyId: KeyId): Promise<boolean> {
  const trial = context.forProfile(await withKeyId(await context.unsealed(), keyId));
  const bank = (await trial.applicationBank('authorization_code')).connect();
  const probe = await bank.login.probe({
    ...{ clientId: '', redirectUri: '', state: '' },
    transactionId: context.world.newId(),
  });
  try {
    // The bank refused the signature before. If it now asks for a token, it looked at the signature first.
    return (await probe.judge()).isUnsure !== 'other';
  } catch (error) {
    if (error instanceof Psd2Error && isAboutKey(error)) return false;
    throw error;
  }
}

async function withKeyId({ name, settings }: Profile, keyId: KeyId): Promise<Profile> {
  const { bankFileOf } = await import('../open/bank-file.ts');
  const file = await bankFileOf(settings.bank ?? '');
  const bank = JSON.stringify({ ...file, signing: { ...file.signing, keyId } });
  return { name, settings: { ...settings, bank } };
}
