import { Psd2Error } from '../errors.ts';

/** The steps of a smoke test, in their order. Reports and monitors know them by these ids. */
export const STEPS = [
  { id: 'settings', calls: '0', checks: 'the settings, the modes of the files, the store' },
  { id: 'certificates', calls: '0', checks: 'QWAC and QSealC: key, kind, roles, days left' },
  { id: 'connection', calls: '0', checks: "name, TLS with the QWAC, clock, the bank's certificate" },
  { id: 'signature', calls: '1', checks: 'the bank accepts a signed call, which needs no customer' },
  { id: 'login', calls: '0 to 3', checks: 'the login is valid. It is renewed only if it is due' },
  { id: 'consent', calls: '0 or 1', checks: 'the consent is valid, and for how long' },
  { id: 'accounts', calls: '1 or 2', checks: 'the list of accounts: ids, IBANs' },
  { id: 'balance', calls: '1', checks: 'the balance of one account: amount, currency, time' },
  { id: 'transactions', calls: '1', checks: 'one page of the last 7 days: rows, days' },
  { id: 'funds', calls: '1', checks: 'a confirmation of funds (--funds)' },
  { id: 'initiate', calls: '2 to 4', checks: 'a payment begins and is given up (--initiate)' },
  { id: 'pay', calls: 'many', checks: 'a whole payment, settled (--pay)' },
  { id: 'shapes', calls: '0', checks: 'the answers still look as they did' },
  { id: 'clean-up', calls: '0 to 2', checks: 'what this run made is ended. It always runs' },
] as const;

/** The id of a step. */
export type StepId = (typeof STEPS)[number]['id'];

export const STEP_IDS: readonly StepId[] = STEPS.map(({ id }) => id);

/** The steps that must not have failed before a step. What they could not show, the step cannot either. */
const AFTER: Readonly<Partial<Record<StepId, readonly StepId[]>>> = {
  certificates: ['settings'],
  connection: ['settings', 'certificates'],
  signature: ['connection'],
  login: ['connection'],
  consent: ['connection', 'login'],
  accounts: ['connection', 'login', 'consent'],
  balance: ['connection', 'login', 'consent', 'accounts'],
  transactions: ['connection', 'login', 'consent', 'accounts'],
  funds: ['connection', 'login', 'accounts'],
  initiate: ['connection', 'login', 'accounts'],
  pay: ['connection', 'login', 'accounts'],
  shapes: ['accounts', 'balance', 'transactions'],
};

/** The three readings of a customer. */
export const READINGS: readonly StepId[] = ['accounts', 'balance', 'transactions'];

/**
 * The step because of which another one cannot run.
 *
 * @param failed the steps that have failed, or that could not run because of another one: that one for each
 * @param namesPayer the operator names the account to debit, so a payment needs no list of accounts
 */
export function blockedBy(
  step: StepId,
  failed: ReadonlyMap<StepId, StepId>,
  namesPayer: boolean,
): StepId | undefined {
  const isPayment = step === 'initiate' || step === 'pay';
  return AFTER[step]
    ?.filter((earlier) => !(isPayment && namesPayer && earlier === 'accounts'))
    .map((earlier) => failed.get(earlier))
    .find((cause) => cause !== undefined);
}

/**
 * Reads a list of steps: ids with commas between them, and ranges: `settings..signature,accounts`.
 *
 * @param option the name of the option, for the error
 * @throws Psd2Error `usage` for a step that there is not, and for a range that runs backwards
 */
export function readSteps(option: string, text: string): Set<StepId> {
  return new Set(
    text.split(',').flatMap((part) => {
      const [from = '', to = from, ...more] = part.trim().split('..');
      const [begin, end] = [indexOf(option, from), indexOf(option, to)];
      if (more.length > 0 || end < begin)
        throw new Psd2Error('usage', `${option} ${JSON.stringify(part)} is not a range of steps`, {
          hint: 'Write the first step, two dots and the last one, for example settings..signature.',
        });
      return STEP_IDS.slice(begin, end + 1);
    }),
  );
}

/** The steps of a list that are named by themselves, and not within a range. @throws Psd2Error `usage` */
export function singleSteps(option: string, text: string): StepId[] {
  return text
    .split(',')
    .filter((part) => !part.includes('..'))
    .map((id) => readStepId(option, id));
}

/** @throws Psd2Error `usage` */
export function readStepId(option: string, text: string): StepId {
  return STEP_IDS[indexOf(option, text)] ?? 'settings';
}

function indexOf(option: string, text: string): number {
  const ids: readonly string[] = STEP_IDS;
  const index = ids.indexOf(text.trim());
  if (index !== -1) return index;
  throw new Psd2Error('usage', `${option} ${JSON.stringify(text)} is not a step`, {
    hint: `The steps are ${STEP_IDS.join(', ')}.`,
    next: [['smoke', '--list']],
  });
}
