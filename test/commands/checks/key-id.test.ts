import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import type { LoginProbe } from '../../../src/bank/ports/customer.ts';
import { Diagnosis } from '../../../src/commands/checks/diagnosis.ts';
import { checkKeyIds } from '../../../src/commands/checks/key-id.ts';
import type { FindInterface } from '../../../src/commands/open/bank.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { ToyBank } from '../../bank/contract/toy.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';
import { differing } from '../named-bank.ts';
import { useOperatorHere } from '../operator.ts';

const temporary = temporaryFolder();
const operator = useOperatorHere();
const SIGNATURE = new Psd2Error('config', 'The bank refused the signature', {
  bankCode: 'SIGNATURE_INVALID',
});
const STANDARD = {
  ...{ form: 'sn-ca', serial: 'hex', case: 'lower', dn: 'issuer' },
  ...{ format: 'rfc2253', spaces: 'keep', separator: ',' },
};
/** The forms that psd2 tries first, in their order. */
const FORMS = [
  STANDARD,
  { ...STANDARD, case: 'upper' },
  { ...STANDARD, serial: 'decimal' },
  { ...STANDARD, spaces: 'percent' },
  { ...STANDARD, spaces: 'strip' },
  { ...STANDARD, dn: 'subject' },
  { ...STANDARD, separator: ', ' },
  { form: 'organization-id' },
];
const setting = z.object({
  headers: z.optional(z.looseObject({})),
  signing: z.looseObject({ keyId: z.unknown() }),
});

/** What the bank says to a call with a form of keyId. */
type Judge = (
  form: unknown,
  file: z.output<typeof setting>,
) => Awaited<ReturnType<LoginProbe['judge']>> | Psd2Error;

/**
 * Lets the doctor look for the form of keyId.
 *
 * @returns its check, the forms that it tried, and what it asked the operator
 */
async function look(
  judge: Judge,
  how: { yes?: true; answer?: boolean; code?: string | null; bank?: string } = { yes: true },
) {
  const { yes, answer, code = 'SIGNATURE_INVALID', bank = 'adorsys' } = how;
  const [tried, questions]: [unknown[], string[]] = [[], []];
  const find: FindInterface = async (profile) =>
    differing(new ToyBank().interface, ({ login }) => {
      const probe = async () => ({
        date: undefined,
        judge: async () => {
          const file = setting.parse(JSON.parse(profile().settings.bank ?? '{}'));
          const { keyId } = file.signing;
          tried.push(keyId);
          const said = judge(keyId, file);
          if (said instanceof Psd2Error) throw said;
          return said;
        },
      });
      return { login: { ...login, probe } };
    });
  const confirm = async (question: string) => {
    questions.push(question);
    return answer === true;
  };
  const { context } = openCommand(newConfigFolder(temporary), operator.bank.clock.now, {
    env: { ...operator.env, PSD2_BANK: bank },
    globals: { yes },
    find,
    ...(answer !== undefined && { operator: { confirm } }),
  });
  const diagnosis = new Diagnosis();
  await checkKeyIds({ context, diagnosis, refusal: code ?? undefined }, ['doctor', '--yes']);
  return { check: diagnosis.checks[0], tried, questions, failure: diagnosis.failure };
}

const WHAT =
  'what banks are known to want: signing.when, headers.date, the forms of keyId, the word for the algorithm. Each try is a call to the bank';
const GOOD = { says: 'good' };
const goodIf = (isRight: boolean) => (isRight ? GOOD : SIGNATURE);
const isForm = (form: unknown, index: number) => JSON.stringify(form) === JSON.stringify(FORMS[index]);
/** 20 forms, 4 words for the algorithm, and 5 other things. */
const ALL = 29;

it('tries each form, then each word for the algorithm, and fails if the bank takes none', async () => {
  const { check, tried, failure } = await look(() => SIGNATURE);
  expect(tried.slice(0, FORMS.length)).toEqual(FORMS);
  expect(new Set(tried.slice(0, 20).map((form) => JSON.stringify(form))).size).toBe(20);
  expect(tried).toHaveLength(ALL);
  expect(check).toEqual({
    ...{ name: 'bank file', status: 'fail', detail: 'the bank takes the call with nothing that psd2 tried' },
    fix: {
      hint: 'The headers to sign, or the certificate, may be others. See the fields of signing with:',
      next: [['help', 'bank-file']],
    },
  });
  expect(failure?.code).toBe('config');
});

it.each([
  ['takes the call', GOOD],
  ['asks for a token, which it does after it looked', { says: 'ok', isUnsure: 'asks for a token' as const }],
])('ends with the first form with which the bank %s', async (_, verdict) => {
  const { check, tried } = await look((form) => (isForm(form, 2) ? verdict : SIGNATURE));
  expect(tried).toEqual(FORMS.slice(0, 3));
  expect(check).toEqual({
    ...{ name: 'bank file', status: 'ok' },
    detail: `the bank takes the call with "signing": {"keyId":${JSON.stringify(FORMS[2])}}`,
    fix: { hint: 'Write this into the bank file.' },
  });
});

const other = (code: string) => ({ says: 'no', isUnsure: 'other' as const, code });
const UNSIGNED = join(temporary, 'unsigned.json');
writeFileSync(UNSIGNED, JSON.stringify({ interface: 'nextgenpsd2', signing: { when: 'never' } }), {
  mode: 0o600,
});

const FORMAT_ERROR = other('FORMAT_ERROR');
const MISSING = new Psd2Error('config', 'No', { bankCode: 'SIGNATURE_MISSING' });
const byAlgorithm: Judge = (_, { signing }) => goodIf(signing.algorithm === 'SHA256withRSA');
const byDate: Judge = (_, { headers }) => (headers?.date === 'signed' ? GOOD : FORMAT_ERROR);
const bySignedDate: Judge = (_, { signing }) =>
  goodIf(JSON.stringify(signing.headers)?.includes('"date"') ?? false);
const byPresence: Judge = (_, { signing }) => goodIf(signing.when === 'always');
const byAll: Judge = (form, { headers, signing }) => {
  if (signing.when !== 'always') return MISSING;
  return headers?.date === 'signed' ? goodIf(isForm(form, 1)) : FORMAT_ERROR;
};
const SIGNED_DATE = '"headers": {"date":"signed"}';
const IN_SIGNATURE = `${SIGNED_DATE}, "signing": {"headers":["digest","x-request-id","date"]}`;
const OF_ALL = `${SIGNED_DATE}, "signing": {"when":"always","keyId":${JSON.stringify(FORMS[1])}}`;
const ALWAYS = '"signing": {"when":"always"}';
const ALGORITHM = '"signing": {"algorithm":"SHA256withRSA"}';
it.each<[string, string, string, Judge, string]>([
  ['the word for the algorithm', 'adorsys', 'SIGNATURE_INVALID', byAlgorithm, ALGORITHM],
  ['Date in a call whose form the bank refuses', 'standard', 'FORMAT_ERROR', byDate, SIGNED_DATE],
  ['Date in the signature', 'standard', 'SIGNATURE_INVALID', bySignedDate, IN_SIGNATURE],
  ['the signature that was missing', UNSIGNED, 'SIGNATURE_MISSING', byPresence, ALWAYS],
  ['one thing after the other', UNSIGNED, 'SIGNATURE_MISSING', byAll, OF_ALL],
])('finds %s', async (_what, bank, code, judge, found) => {
  const { check } = await look(judge, { yes: true, bank, code });
  expect(check).toMatchObject({ status: 'ok', detail: `the bank takes the call with ${found}` });
});

it('warns if the bank refuses the form for another reason', async () => {
  const how = { yes: true, bank: 'standard', code: 'FORMAT_ERROR' } as const;
  const { check, tried } = await look(() => FORMAT_ERROR, how);
  expect(tried).toHaveLength(7);
  expect(check?.status).toBe('warn');
});

it.each(['KID_MISSING', 'KID_INVALID'])('begins after %s too, and goes on after it', async (bankCode) => {
  const refusal = new Psd2Error('config', 'No', { bankCode });
  expect((await look(() => refusal, { yes: true, code: bankCode })).tried).toHaveLength(ALL);
});

it.each(['SERVICE_INVALID', null])('does not begin after another refusal, or none: %s', async (code) => {
  const { check, tried } = await look(() => SIGNATURE, { yes: true, code });
  expect([check, tried]).toEqual([undefined, []]);
});

it('ends with the error if the bank fails at a try', async () => {
  const failing = new Psd2Error('bank_failing', 'The bank is failing');
  const { check, tried, failure } = await look(() => failing);
  expect(tried).toHaveLength(1);
  expect(check).toEqual({ name: 'bank file', status: 'fail', detail: 'The bank is failing', fix: null });
  expect(failure?.code).toBe('bank_failing');
});

it('without a terminal and --yes says how to try them, and sends nothing', async () => {
  expect(await look(() => SIGNATURE, {})).toMatchObject({
    tried: [],
    check: {
      ...{ name: 'bank file', status: 'skip', detail: `psd2 can try ${WHAT}` },
      fix: { hint: 'Try them with:', next: [['doctor', '--yes']] },
    },
  });
});

it('at a terminal asks first, and takes no for an answer', async () => {
  expect(await look(() => SIGNATURE, { answer: false })).toEqual({
    ...{ tried: [], failure: undefined, questions: [`The bank refused the call. Try ${WHAT}?`] },
    check: { name: 'bank file', status: 'skip', detail: 'nothing else was tried', fix: null },
  });
  expect((await look(() => SIGNATURE, { answer: true })).tried).toHaveLength(ALL);
});
