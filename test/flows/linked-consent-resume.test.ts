import { describe, expect, it } from 'vitest';
import { useNextGen, useNextGenBank } from '../bank/interfaces/nextgenpsd2/client.ts';
import { temporaryFolder } from '../store/temporary-folder.ts';
import { errorOf, fakeCustomer } from './doubles.ts';
import { cutAfter, linkedScriptOf, linksTo, newLinkedConsent, OTHER_PAGE, PAGE } from './linked-consents.ts';

const recorded = useNextGenBank();
const open = useNextGen(recorded);
const script = linkedScriptOf(recorded);
const temporary = temporaryFolder();
const oauthBank = () => open({ file: { oauth: { mode: 'integrated' } } }).bank;
const OAUTH = { scaOAuth: { href: '/.well-known/bank' } };

/** The calls that a consent still needs if its journal ends with an event of this type. */
const CALLS_LEFT: Record<string, (() => void)[]> = {
  created: [() => script.request(), () => script.is('valid')],
  // Nothing moves money, so a request without an answer is made again.
  'request-sent': [() => script.request(), () => script.is('valid')],
  requested: [() => script.is('valid')],
  // The customer may have decided already.
  'sca-started': [() => script.is('valid')],
  'sca-returned': [() => script.is('valid')],
  // The kill came before the consent was kept.
  granted: [() => script.is('valid')],
};

async function wholeJournal(): Promise<string[]> {
  const consent = await newLinkedConsent(temporary);
  script.request();
  script.is('valid');
  await consent.run(open().bank);
  return consent.lines();
}

/** The journal of a consent whose customer has the page, and has not decided. */
async function undecided(links: object = linksTo('a1', PAGE)): Promise<string[]> {
  const consent = await newLinkedConsent(temporary, fakeCustomer({ scaTimeoutMs: 1 }, null));
  script.request(links);
  script.is('received');
  await errorOf(consent.run(open().bank));
  return consent.lines();
}

it('a consent that is killed after any event is resumed to its end, and kept for readings', async () => {
  const whole = await wholeJournal();
  expect(whole).toHaveLength(6);
  for (let killedAfter = 1; killedAfter <= whole.length; killedAfter += 1) {
    const consent = cutAfter(temporary, whole.slice(0, killedAfter));
    for (const call of CALLS_LEFT[consent.events().at(-1) ?? ''] ?? []) call();
    expect(await consent.run(open().bank)).toMatchObject({ state: 'confirmed', resourceId: 'c1' });
    expect(consent.lines().slice(0, killedAfter)).toEqual(whole.slice(0, killedAfter));
    expect([...consent.kept]).toEqual(['c1']);
  }
});

it.each([
  { type: 'funds', account: 'pan:525412******3017' },
  { type: 'funds', account: 'DE89370400440532013000', cardNumber: '525412******3017' },
])('a consent whose answer was lost is not asked for with what is kept of a card: %j', async (access) => {
  const [created = '', ...later] = await wholeJournal();
  const begun = created.replace('"terms":{}', `"terms":${JSON.stringify({ access })}`);
  const consent = cutAfter(temporary, [begun, ...later.slice(0, 1)]);
  expect(await errorOf(consent.run(open().bank))).toMatchObject({
    code: 'usage',
    message: 'psd2 does not keep full card numbers, so it cannot ask again',
  });
});

it('a consent is kept for readings before its journal says that it is granted', async () => {
  const consent = cutAfter(temporary, await undecided());
  consent.keeps = async () => {
    expect(consent.events()).not.toContain('granted');
    throw new RangeError('psd2 is killed');
  };
  script.is('valid');
  await expect(consent.run(open().bank)).rejects.toThrow('psd2 is killed');
  expect(consent.events()).not.toContain('granted');
});

describe('resumed while the customer has a page', () => {
  it('a confirmation code that was lost with the browser needs a new authorisation', async () => {
    const links = linksTo('a1', PAGE, { confirmation: { href: '/v1/consents/c1/authorisations/a1' } });
    const consent = cutAfter(temporary, await undecided(links));
    script.is('received');
    script.sca('unconfirmed');
    script.start();
    script.is('valid');
    expect(await consent.run(open().bank)).toMatchObject({ state: 'confirmed' });
    expect(consent.customer.visited).toEqual([OTHER_PAGE]);
  });
});

it('a login that was cut off is made up for, although the bank calls the consent valid', async () => {
  const consent = await newLinkedConsent(temporary, fakeCustomer({ scaTimeoutMs: 1 }, null));
  script.request(OAUTH);
  script.metadata();
  script.is('received');
  await errorOf(consent.run(oauthBank()));
  const resumed = cutAfter(temporary, consent.lines(), fakeCustomer({}, { code: 'c/2' }));
  script.is('valid');
  script.metadata();
  script.tokens();
  script.is('valid');
  expect(await resumed.run(oauthBank())).toMatchObject({ state: 'confirmed' });
  expect(resumed.tokens).toMatchObject([{ accessToken: 't1' }]);
});
