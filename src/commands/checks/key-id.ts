import { isNextGenPsd2 } from '../../bank/interfaces/nextgenpsd2/description/description.ts';
import type { BankDescription, BankFile } from '../../bank/interfaces/nextgenpsd2/description/schema.ts';
import { isObject } from '../../bank-file/values.ts';
import { Psd2Error } from '../../errors.ts';
import type { Profile } from '../../store/machine/settings.ts';
import type { Context } from '../context.ts';
import type { Subject } from './check.ts';
import type { Diagnosis, Finding } from './diagnosis.ts';

type KeyId = NonNullable<NonNullable<BankFile['signing']>['keyId']>;
/** What a bank file may have to say, as it writes it. */
export type Change = Pick<BankFile, 'headers' | 'signing'>;

/** The standard's form. A bank file must say each value, because it may inherit another one. */
const STANDARD: KeyId = {
  form: 'sn-ca',
  serial: 'hex',
  case: 'lower',
  dn: 'issuer',
  format: 'rfc2253',
  spaces: 'keep',
  separator: ',',
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
  { ...STANDARD, format: 'rfc2253-oid' },
  { ...STANDARD, format: 'rfc2253-oid', spaces: 'percent' },
  { ...STANDARD, format: 'openssl' },
  { ...STANDARD, format: 'openssl', spaces: 'percent' },
  { ...STANDARD, format: 'rfc1779' },
  { ...STANDARD, format: 'java' },
  { ...STANDARD, format: 'dotnet' },
  { ...STANDARD, serial: 'decimal', format: 'rfc1779', spaces: 'strip' },
  { ...STANDARD, form: 'SN={serial},DN={dn}', serial: 'decimal', format: 'one-line' },
  { ...STANDARD, serial: 'hex-even' },
  { ...STANDARD, serial: 'hex-der' },
  { ...STANDARD, form: 'serial' },
];
const ALGORITHMS = ['SHA256withRSA', 'sha256RSA', 'SHA-256', 'rsa-sha256'] as const;
/** What else of a signature differs. */
const OTHERS: readonly NonNullable<BankFile['signing']>[] = [
  { emptyBodyDigest: false },
  { emptyBody: '{}' },
  { digest: 'SHA-512' },
  { certificate: 'pem' },
  { certificate: 'pem-line' },
];
const NAME = 'bank file';
const WHAT =
  'what banks are known to want: signing.when, headers.date, the forms of keyId, the word for the algorithm. Each try is a call to the bank';

/**
 * After the bank has refused the call of a diagnosis: finds out what the bank file would have to say, one thing at a time. Each try is
 * a call, so the operator confirms first. What it found stands before what failed.
 *
 * @param again the command that tries them, for an operator whom psd2 cannot ask
 */
export async function checkKeyIds(
  { context, diagnosis, refusal: code }: Pick<Subject, 'context' | 'diagnosis' | 'refusal'>,
  again: string[],
): Promise<void> {
  if (code === undefined || !(isAboutKey(code) || MAY_MISS.includes(code))) return;
  await diagnosis.make(NAME, async (): Promise<Finding> => {
    const { globals, terminal } = context;
    if (!globals.yes && !terminal.canAsk)
      return {
        status: 'skip',
        detail: `psd2 can try ${WHAT}`,
        fix: { hint: 'Try them with:', next: [again] },
      };
    if (!globals.yes && !(await terminal.confirm(`The bank refused the call. Try ${WHAT}?`)))
      return { status: 'skip', detail: 'nothing else was tried', fix: null };
    return findChange(context, code);
  });
  diagnosis.beginWith(NAME);
}

/**
 * After the bank has refused the call of `psd2 doctor` for what its file may have wrong: says which command asks the bank. The doctor
 * itself does not guess.
 *
 * @param code as in {@link checkKeyIds}
 */
export async function sayLearn(diagnosis: Diagnosis, code: string | undefined): Promise<void> {
  if (code === undefined || !(isAboutKey(code) || MAY_MISS.includes(code))) return;
  await diagnosis.make(NAME, async () => ({
    status: 'skip',
    detail: 'it may say the wrong thing about the signature or a header',
    fix: {
      hint: 'Have psd2 ask the bank what its file must say, and write a file with it:',
      next: [['bank', 'learn', 'learned.json']],
    },
  }));
  diagnosis.beginWith(NAME);
}

/** Codes of a bank that may miss the signature, or a header of it. */
const MAY_MISS = ['SIGNATURE_MISSING', 'FORMAT_ERROR', 'TIMESTAMP_INVALID', 'CERTIFICATE_MISSING', ''];

/** Whether another `keyId` may help. */
function isAboutKey(code: string): boolean {
  return ['SIGNATURE_INVALID', 'KID_MISSING', 'KID_INVALID'].includes(code);
}

async function findChange(context: Context, first: string): Promise<Finding> {
  const { settings } = await context.unsealed();
  const { bankFileOf, describeStored } = await import('../open/bank-file.ts');
  const bank = await describeStored(JSON.stringify(await bankFileOf(settings.bank ?? '')));
  if (!isNextGenPsd2(bank)) throw new TypeError('Only banks of NextGenPSD2 have their signature tried');
  const remedy = await searchChange(bank, first, (change) => answerTo(context, change));
  if (remedy)
    return {
      status: 'ok',
      detail: `the bank takes the call with ${Object.entries(remedy)
        .map(([name, value]) => `"${name}": ${JSON.stringify(value)}`)
        .join(', ')}`,
      fix: { hint: 'Write this into the bank file.' },
    };
  return {
    status: isAboutKey(first) ? 'fail' : 'warn',
    detail: 'the bank takes the call with nothing that psd2 tried',
    fix: {
      hint: 'The headers to sign, or the certificate, may be others. See the fields of signing with:',
      next: [['help', 'bank-file']],
    },
  };
}

/**
 * Looks for a change of the bank file with which the bank takes a call, one thing at a time.
 *
 * @param bank the bank that refused the call
 * @param first the code with which it did
 * @param answerTo makes the call with a change. @returns the code of a refusal; undefined if the bank takes the call
 */
export async function searchChange(
  bank: BankDescription,
  first: string,
  answerTo: (change: Change) => Promise<string | undefined>,
): Promise<Change | undefined> {
  let reached: Change = {};
  let code = first;
  const tryAll = async (changes: readonly ((before: Change) => Change)[]): Promise<Change | undefined> => {
    for (const change of changes) {
      const changed = merged(reached, change(reached));
      const answer = await answerTo(changed);
      if (answer === undefined) return changed;
      // Another answer than before: the bank has come further.
      if (answer !== code && MAY_MISS.includes(code)) [reached, code] = [changed, answer];
    }
    return undefined;
  };
  const missing = isAboutKey(first) ? [] : missingIn(bank);
  const later = isAboutKey(first) ? missingIn(bank) : [];
  return (
    (await tryAll(missing)) ??
    (isAboutKey(code)
      ? await tryAll([
          ...FORMS.map((keyId) => () => ({ signing: { keyId } })),
          ...later,
          ...ALGORITHMS.map((algorithm) => () => ({ signing: { algorithm } })),
          ...OTHERS.map((signing) => () => ({ signing })),
        ])
      : ['FORMAT_ERROR', 'CERTIFICATE_INVALID'].includes(code)
        ? await tryAll(OTHERS.map((signing) => () => ({ signing })))
        : undefined)
  );
}

/** What a bank may miss: the signature of a reading, the header Date, Date in the signature. */
function missingIn({ signing, headers }: BankDescription): ((before: Change) => Change)[] {
  const date = (before: Change) => {
    const isSigned = (before.signing?.when ?? signing.when) === 'always';
    return { date: isSigned ? ('signed' as const) : ('always' as const) };
  };
  const isNamed = [...signing.headers, ...signing.ifSent].includes('date');
  return [
    ...(signing.when === 'always' ? [] : [() => ({ signing: { when: 'always' as const } })]),
    ...(headers.date === 'never' ? [(before: Change) => ({ headers: date(before) })] : []),
    ...(isNamed
      ? []
      : [
          (before: Change) => ({ headers: date(before), signing: { headers: [...signing.headers, 'date'] } }),
        ]),
  ];
}

function merged(before: Change, change: Change): Change {
  const headers = { ...before.headers, ...change.headers };
  const signing = { ...before.signing, ...change.signing };
  return {
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(Object.keys(signing).length > 0 && { signing }),
  };
}

/**
 * Makes the call of the diagnosis with a change.
 *
 * @returns the code with which the bank refuses it; undefined if it takes the signature
 * @throws Psd2Error if the bank fails, or cannot be reached
 */
async function answerTo(context: Context, change: Change): Promise<string | undefined> {
  const trial = context.forProfile(await withChange(await context.unsealed(), change));
  const bank = (await trial.applicationBank('authorization_code')).connect();
  const probe = await bank.login.probe({
    clientId: '',
    redirectUri: '',
    state: '',
    transactionId: context.world.newId(),
  });
  try {
    // The bank refused the signature before. If it now asks for a token, it looked at the signature first.
    const { isUnsure, code = '' } = await probe.judge();
    return isUnsure === 'other' ? code : undefined;
  } catch (error) {
    const code = error instanceof Psd2Error ? error.context.bankCode : undefined;
    if (code != null && (isAboutKey(code) || MAY_MISS.includes(code))) return code;
    throw error;
  }
}

async function withChange({ name, settings }: Profile, change: Change): Promise<Profile> {
  const { bankFileOf } = await import('../open/bank-file.ts');
  const file = await bankFileOf(settings.bank ?? '');
  const changed = Object.entries(change).map(([part, its]) => {
    const own = Object.entries(file).find(([name]) => name === part)?.[1];
    return [part, { ...(isObject(own) && own), ...its }];
  });
  const bank = JSON.stringify({ ...file, ...Object.fromEntries(changed) });
  return { name, settings: { ...settings, bank } };
}
