import { expect, it } from 'vitest';
import * as z from 'zod';
import type { LoginProbe } from '../../../src/bank/ports/customer.ts';
import { Diagnosis } from '../../../src/commands/doctor/diagnosis.ts';
import { checkKeyIds } from '../../../src/commands/doctor/key-id.ts';
import type { FindInterface } from '../../../src/commands/open/bank.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { ToyBank } from '../../bank/contract/toy.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { openCommand } from '../command.ts';
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
/** The forms in the order in which psd2 tries them. */
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
const setting = z.object({ signing: z.object({ keyId: z.unknown() }) });

/** What the bank says to a call with a form of keyId. */
type Judge = (form: unknown) => Awaited<ReturnType<LoginProbe['judge']>> | Psd2Error;

/**
 * Lets the doctor look for the form of keyId.
 *
 * @returns its check, the forms that it tried, and what it asked the operator
 */
async function look(
  judge: Judge,
  how: { yes?: true; answer?: boolean; refusal?: Psd2Error | undefined } = { yes: true },
) {
  const { yes, answer, refusal = SIGNATURE } = how;
  const { interface: toy } = new ToyBank();
  const [tried, questions]: [unknown[], string[]] = [[], []];
  const find: FindInterface = async (profile) => ({
    ...toy,
    open: (given) => {
      const opened = toy.open(given);
      const connect: typeof opened.connect = (...session) => {
        const bank = opened.connect(...session);
        const probe = async () => ({
          date: undefined,
          judge: async () => {
            const { keyId } = setting.parse(JSON.parse(profile().settings.bank ?? '{}')).signing;
            tried.push(keyId);
            const said = judge(keyId);
            if (said instanceof Psd2Error) throw said;
            return said;
          },
        });
        return { ...bank, login: { ...bank.login, probe } };
      };
      return { ...opened, connect };
    },
  });
  const confirm = async (question: string) => {
    questions.push(question);
    return answer === true;
  };
  const { context } = openCommand(newConfigFolder(temporary), operator.bank.clock.now, {
    env: { ...operator.env, PSD2_BANK: 'adorsys' },
    globals: { yes },
    find,
    ...(answer !== undefined && { operator: { confirm } }),
  });
  const diagnosis = new Diagnosis();
  await checkKeyIds(context, diagnosis, refusal, ['doctor', '--yes']);
  return { check: diagnosis.checks[0], tried, questions, failure: diagnosis.failure };
}

const WHAT = 'the 8 forms of keyId that banks are known to take. Each try is a call to the bank';
const refused = () => SIGNATURE;

it('tries each form, and fails if the bank takes none', async () => {
  const { check, tried, failure } = await look(refused);
  expect(tried).toEqual(FORMS);
  expect(check).toEqual({
    ...{ name: 'keyId', status: 'fail' },
    detail: 'the bank takes the signature with none of the 8 forms of keyId',
    fix: { hint: 'See docs/banks.md: the headers to sign, the algorithm or the certificate may be others.' },
  });
  expect(failure?.code).toBe('config');
});

it.each([
  ['takes the call', { says: 'good' }],
  [
    'asks for a token, which it does after it looked at the signature',
    { says: 'ok', isUnsure: 'asks for a token' as const },
  ],
])('ends with the first form with which the bank %s', async (_, verdict) => {
  const decimal = (form: unknown) => JSON.stringify(form) === JSON.stringify(FORMS[2]);
  const { check, tried } = await look((form) => (decimal(form) ? verdict : SIGNATURE));
  expect(tried).toEqual(FORMS.slice(0, 3));
  expect(check).toEqual({
    ...{ name: 'keyId', status: 'ok' },
    detail: `the bank takes the signature with "signing": {"keyId": ${JSON.stringify(FORMS[2])}}`,
    fix: { hint: 'Write this into the bank file.' },
  });
});

it('goes on if the bank refuses something else before it shows what it thinks of the signature', async () => {
  const { check, tried } = await look(() => ({ says: 'no', isUnsure: 'other' }));
  expect(tried).toHaveLength(8);
  expect(check?.status).toBe('fail');
});

it.each(['KID_MISSING', 'KID_INVALID', 'SIGNATURE_INVALID'])(
  'begins after %s, and goes on after it',
  async (bankCode) => {
    const refusal = new Psd2Error('config', 'No', { bankCode });
    expect((await look(() => refusal, { yes: true, refusal })).tried).toHaveLength(8);
  },
);

it.each([
  ['another refusal', new Psd2Error('config', 'No', { bankCode: 'FORMAT_ERROR' })],
  ['a refusal without a code', new Psd2Error('bank_refused', 'No')],
])('does not begin after %s', async (_, refusal) => {
  expect(await look(refused, { yes: true, refusal })).toMatchObject({ check: undefined, tried: [] });
});

it('does not begin if the bank refused nothing', async () => {
  const { context } = openCommand(newConfigFolder(temporary), operator.bank.clock.now);
  const diagnosis = new Diagnosis();
  await checkKeyIds(context, diagnosis, undefined, ['doctor']);
  expect(diagnosis.checks).toEqual([]);
});

it('ends with the error if the bank fails at a try', async () => {
  const failing = new Psd2Error('bank_failing', 'The bank is failing');
  const { check, tried, failure } = await look(() => failing);
  expect(tried).toHaveLength(1);
  expect(check).toEqual({ name: 'keyId', status: 'fail', detail: 'The bank is failing', fix: null });
  expect(failure?.code).toBe('bank_failing');
});

it('without a terminal and --yes says how to try them, and sends nothing', async () => {
  expect(await look(refused, {})).toMatchObject({
    tried: [],
    check: {
      ...{ name: 'keyId', status: 'skip', detail: `psd2 can try ${WHAT}` },
      fix: { hint: 'Try them with:', next: [['doctor', '--yes']] },
    },
  });
});

it('at a terminal asks first, and takes no for an answer', async () => {
  expect(await look(refused, { answer: false })).toEqual({
    ...{ tried: [], failure: undefined, questions: [`The bank refused the signature. Try ${WHAT}?`] },
    check: { name: 'keyId', status: 'skip', detail: 'no other form was tried', fix: null },
  });
  expect((await look(refused, { answer: true })).tried).toHaveLength(8);
});
