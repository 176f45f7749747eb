import { expect, it } from 'vitest';
import { BegunThings } from '../../../../src/commands/bank/learn/begun.ts';
import { openCommand } from '../../command.ts';
import {
  atSmallBank,
  friendly,
  now,
  type Reply,
  refuses,
  type SmallBank,
  useSmallBanks,
} from './small-bank.ts';

// How bank learn asks: slowly, until the bank minds, and nothing stays.

const { newFolder, learnAt } = useSmallBanks();

/** A friendly bank that answers some calls in another way. */
const but =
  (call: RegExp, answer: () => Reply): SmallBank =>
  (method, path, ...of) =>
    call.test(`${method} ${path}`) ? answer() : friendly(method, path, ...of);
const CONSENTS = /^POST \/v1\/consents$/;
const said = (status: number, code: string) => `${status} ${code}, "${code}"`;
/** What is not known if psd2 asks no more. */
const NOT_KNOWN =
  'signing consent.types consent.once consent.maxDays consent.delete sca.approaches psu.id payments.products funds.consent';

it.each<[string, reply: Reply, reason: string | null, asked: number]>([
  [
    'minds',
    refuses(429, 'ACCESS_EXCEEDED'),
    `psd2 asked no more, because the bank minds: ${said(429, 'ACCESS_EXCEEDED')}`,
    1,
  ],
  ...['EXPIRED', 'BLOCKED', 'REVOKED'].map((why): [string, Reply, string, number] => [
    `says that the certificate is ${why}`,
    refuses(401, `CERTIFICATE_${why}`),
    `the bank does not accept the certificate: ${said(401, `CERTIFICATE_${why}`)}`,
    1,
  ]),
  ['has another word for the certificate', refuses(401, 'CERTIFICATE_INVALID'), null, 1],
  ['is down', { status: 503, body: {} }, 'psd2 asked no more, because the bank fails: 503', 1],
  ['fails, again', { status: 500, body: {} }, 'psd2 asked no more, because the bank fails: 500', 2],
])('a bank that %s is asked no more', async (_, reply, reason, asked) => {
  await atSmallBank(
    but(CONSENTS, () => reply),
    async (env, calls) => {
      const { failure, result } = await learnAt(env);
      const reasons = new Map(result?.findings.map((each) => [each.field, each.reason]));
      const known = NOT_KNOWN.split(' ').map((field) => reasons.get(field));
      if (reason === null) expect(known).not.toContain(reason);
      else expect(known).toEqual(known.map(() => reason));
      expect(failure?.message).toMatch(/^No consent could be begun\. /);
      expect(calls.filter((call) => CONSENTS.test(call))).toHaveLength(asked);
      expect(calls.some((call) => call.includes('psd2-no-such-product'))).toBe(reason === null);
    },
  );
});

it.each([
  [0, false],
  [1, false],
  [2, true],
])('a bank that fails %i times is asked no more: %s', async (times, isEnd) => {
  let failures = 0;
  const failing = but(/bookingStatus=/, () => {
    failures += 1;
    return failures > times ? refuses(401, 'CONSENT_INVALID') : { status: 500, body: {} };
  });
  await atSmallBank(failing, async (env, calls) => {
    const { result } = await learnAt(env);
    expect(calls.some((call) => call.includes('psd2-no-such-product'))).toBe(!isEnd);
    expect(result?.left).toEqual([]);
  });
});

it('psd2 waits half a second between two questions, and counts them', async () => {
  const waited: number[] = [];
  await atSmallBank(friendly, async (env, calls) => {
    const { result } = await learnAt(env, undefined, undefined, {
      changes: ({ world }) => ({ world: { ...world, sleep: async (ms) => void waited.push(ms) } }),
    });
    expect(result?.calls).toBe(calls.length);
    // Also calls have their pace.
    expect(waited.filter((ms) => ms === 500)).toHaveLength(calls.length - 1);
  });
});

it.each([
  ['the same', {}, undefined],
  [
    'another one',
    { 'x-request-id': 'f7e1c5a0-0000-4000-8000-000000000000' },
    'the answer has another X-Request-ID than the request. If all answers have, the bank file needs "any" here',
  ],
])('says what X-Request-ID answers have: %s', async (_, headers, value) => {
  const bank = but(/^GET \/v1\/accounts$/, () => ({
    status: 403,
    body: { tppMessages: [{ category: 'ERROR', code: 'CONSENT_UNKNOWN' }] },
    headers,
  }));
  await atSmallBank(bank, async (env) => {
    const { result } = await learnAt(env);
    expect(result?.findings.find(({ field }) => field === 'headers.requestId')?.value).toBe(value);
  });
});

const [CONSENT, PRODUCT, FUNDS] = [
  '/v1/consents/x1',
  '/v1/payments/some/x1',
  '/v2/consents/confirmation-of-funds/x1',
];
it.each<[what: string, id: string | null, where: string, end: string | null, answer: Reply, stays: boolean]>([
  ['dedicated', 'x1', 'HERE', CONSENT, { status: 204 }, false],
  ['payments/some', 'x1', 'HERE', PRODUCT, { status: 204 }, false],
  ['funds', 'x1', 'HERE', FUNDS, { status: 204 }, false],
  ['dedicated', 'x1', 'HERE', CONSENT, null, true],
  ['dedicated', 'x1', 'HERE', CONSENT, refuses(400, 'FORMAT_ERROR'), true],
  ['dedicated', 'x1', 'https://other.example', null, null, true],
  ['dedicated', null, 'HERE', null, null, true],
])('what an earlier run has left is ended: %s %s at %s', async (what, id, where, end, answer, stays) => {
  const folder = newFolder();
  const bank = but(/^DELETE .*\/x1$/, () => answer);
  await atSmallBank(bank, async (env, calls) => {
    const at = where.replace('HERE', env.PSD2_BASE_URL ?? '');
    const begun = new BegunThings(openCommand(folder, now).context.folder.learning('env'));
    const thing = { what, id, requestId: 'r1', at: '2026-01-01T00:00:00.000Z', bank: at };
    begun.keep(thing);
    const { failure, result, said: told } = await learnAt(env, undefined, folder);
    expect(failure).toBeNull();
    expect(calls.filter((call) => call.endsWith('/x1'))).toEqual(end === null ? [] : [`DELETE ${end}`]);
    expect(result?.left).toEqual(stays ? [thing] : []);
    // What nobody can end is said once.
    expect(begun.all).toEqual(stays && id !== null ? [thing] : []);
    const [name, tail] =
      id === null
        ? [
            `The bank did not say what became of ${what}, so it may be left at ${at} (X-Request-ID r1, ${thing.at}).`,
            '',
          ]
        : [
            `${what} ${id} is left at ${at} (${thing.at}).`,
            ' The next psd2 bank learn tries again to delete it.',
          ];
    const line = `${name} Nobody has its link, so nobody can authorise it.${tail}`;
    expect(told.includes(line)).toBe(stays);
  });
});
