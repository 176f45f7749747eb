import { expect, it } from 'vitest';
import { bySeed, sample } from '../support/sample.ts';
import { ALL, PATIENCE_MS, type Place, useCrashBank } from './bank.ts';
import { goThrough, problemsOf, SIDE_BY_SIDE, sideBySide } from './matrix.ts';
import { FORGERIES, type Forgery, KNOWN, tryConsent, tryPayment, tryTokens, WHENS } from './not-the-banks.ts';
import { useRelay } from './relay.ts';
import { triedShape, useFollowers, withPlaces } from './tried.ts';

const bank = useCrashBank();
const followers = useFollowers(bank, SIDE_BY_SIDE);
const relay = useRelay(bank.sandbox);
const means = { bank, relay, followers };

/** The forgeries of a test run: some statuses that mean something, and some others. */
const chosen = (known: number, others: number): Forgery[] => {
  // The order is random, so that an interrupted run has tried some of each kind.
  if (ALL) return bySeed(FORGERIES, ({ at }) => at);
  const isKnown = ({ status }: Forgery) => KNOWN.includes(status);
  const seeded = bySeed(FORGERIES, ({ at }) => at);
  return [
    ...seeded.filter(isKnown).slice(0, known),
    ...seeded.filter((each) => !isKnown(each)).slice(0, others),
  ];
};
const cases = (calls: readonly string[]) =>
  calls.flatMap((call) => WHENS.map((when) => [call, when] as const));

it.each(sample(cases(['verify', 'execute', 'confirm']), 2))(
  'if an answer to %s does not come from the bank (%s, any status), psd2 never reads it as a refusal and does nothing twice',
  async (call, when) => {
    const forgeries = call === 'execute' ? chosen(KNOWN.length, 3) : chosen(4, 2);
    const tries = await goThrough(triedShape, call, when, forgeries, (some) =>
      sideBySide(some, (forgery) =>
        call === 'confirm'
          ? tryConsent(means, when, forgery)
          : tryPayment(means, call === 'verify' ? 'verify' : 'execute', when, forgery),
      ),
    );
    expect(problemsOf(tries)).toEqual([]);
  },
  PATIENCE_MS,
);

it.each(sample(cases(['refresh', 'code']), 1))(
  'if an answer to a token call (%s) does not come from the bank (%s, any status), psd2 loses no login',
  async (call, when) => {
    const tries = await withPlaces(loggedIn, (lend) =>
      goThrough(triedShape, `token (${call})`, when, chosen(4, 2), (some) =>
        sideBySide(some, (forgery) =>
          lend((place) => tryTokens(means, place, call === 'code' ? 'code' : 'refresh', when, forgery)),
        ),
      ),
    );
    expect(problemsOf(tries)).toEqual([]);
  },
  PATIENCE_MS,
);

async function loggedIn(): Promise<Place> {
  const place = bank.newPlace();
  const login = await followers.psd2(place, ['auth', 'login']);
  expect(login, login.stderr).toMatchObject({ code: 0 });
  return place;
}
