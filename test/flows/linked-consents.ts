import type { Bank } from '../../src/bank/ports/bank.ts';
import type { Consent } from '../../src/domain/consent.ts';
import { type GrantPorts, recordStatus, runLinkedConsent } from '../../src/flows/consent/by-links.ts';
import type { StoreFolder } from '../../src/store/machine/folder.ts';
import type { StoredTokens } from '../../src/store/ports/tokens.ts';
import { json } from '../bank/interfaces/nextgenpsd2/client.ts';
import type { RecordedBank, ScriptedAnswer } from '../bank/recorded-bank.ts';
import { begun } from '../store/flows.ts';
import { newConfigFolder } from '../store/temporary-folder.ts';
import { type FakeCustomer, fakeCustomer, fakeWorld, untaken } from './doubles.ts';
import { flowsIn, leaveBehind, readLines, typesOf } from './transfers.ts';

export const PAGE = 'https://customers.bank.example/sca?a=a1';
export const OTHER_PAGE = 'https://customers.bank.example/sca?a=a2';
export const STATE = 'the-state';

const SELF = '/v1/consents/c1';

/** The links of an authorisation. */
export const linksTo = (authorisation: string, page: string, more: object = {}) => ({
  scaRedirect: { href: page },
  scaStatus: { href: `${SELF}/authorisations/${authorisation}` },
  ...more,
});

/** Adds the calls of a consent to a bank's script. */
export function linkedScriptOf(recorded: RecordedBank) {
  return {
    request: (links: object = linksTo('a1', PAGE), answer?: ScriptedAnswer) =>
      recorded.expect(
        'POST',
        '/v1/consents',
        answer ?? json({ consentId: 'c1', consentStatus: 'received', _links: links }, 201),
      ),
    start: (links: object = linksTo('a2', OTHER_PAGE)) =>
      recorded.expect('POST', `${SELF}/authorisations`, json({ scaStatus: 'received', _links: links }, 201)),
    /** The consent at the bank. */
    is: (consentStatus: string, more: object = {}) =>
      recorded.expect(
        'GET',
        SELF,
        json({
          consentStatus,
          access: {},
          recurringIndicator: true,
          validUntil: '2027-01-31',
          frequencyPerDay: 2,
          ...more,
        }),
      ),
    sca: (scaStatus: string, authorisation = 'a1') =>
      recorded.expect('GET', `${SELF}/authorisations/${authorisation}`, json({ scaStatus })),
    code: (scaStatus: string) => recorded.expect('PUT', `${SELF}/authorisations/a1`, json({ scaStatus })),
    metadata: () =>
      recorded.expect(
        'GET',
        '/.well-known/bank',
        json({
          issuer: recorded.baseUrl,
          authorization_endpoint: 'https://customers.bank.example/authorize',
          token_endpoint: `${recorded.baseUrl}/token`,
        }),
      ),
    tokens: () =>
      recorded.expect('POST', '/token', json({ access_token: 't1', token_type: 'Bearer', expires_in: 60 })),
  };
}

/** A consent whose grant is the customer's SCA alone, with what psd2 keeps of it. */
export interface LinkedSetting {
  customer: FakeCustomer;
  /** The consents that readings use. */
  kept: Set<string>;
  /** What keeps a consent for readings. */
  keeps: (resourceId: string) => Promise<void>;
  tokens: StoredTokens[];
  /** What the operator is told. */
  said: string[];
  grant: GrantPorts;
  /** Continues the consent from its journal. */
  run(bank: Bank): Promise<Consent>;
  /** Asks the bank how it is, as `consent status` does. */
  ask(bank: Bank): Promise<unknown>;
  /** Gives it up, as `consent cancel` does. */
  cancel(): Promise<unknown>;
  /** Milliseconds of each pause. */
  pauses(): number[];
  stored(): Promise<Consent>;
  lines(): string[];
  /** The types of the events in the journal. */
  events(): string[];
}

/** @param pasted what the operator pastes; absent if psd2 does not ask */
export async function newLinkedConsent(
  temporary: string,
  customer = fakeCustomer(),
  pasted?: Record<string, string>,
): Promise<LinkedSetting> {
  const folder = newConfigFolder(temporary);
  const begin = {
    transactionId: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee',
    customerId: 'ada',
    categories: [{ name: 'ACCOUNT_INFO' as const, products: [] }],
    terms: {},
    returnState: STATE,
  };
  const { current } = await begun(flowsIn(folder, fakeWorld()), 'consent', begin);
  return settingOf(folder, current.flow, customer, pasted);
}

/** The same consent on a computer whose journal ends earlier. */
export function cutAfter(temporary: string, lines: string[], customer = fakeCustomer()): LinkedSetting {
  const folder = newConfigFolder(temporary);
  return settingOf(folder, leaveBehind(folder, lines), customer);
}

function settingOf(
  folder: StoreFolder,
  flow: string,
  customer: FakeCustomer,
  pasted?: Record<string, string>,
): LinkedSetting {
  const world = fakeWorld();
  const flows = flowsIn(folder, world);
  const kept = new Set<string>();
  const tokens: StoredTokens[] = [];
  const said: string[] = [];
  const grant: GrantPorts = {
    client: () => ({ clientId: 'PSDIT-1', clientSecret: '' }),
    readyToKeep: async () => {},
    keepTokens: async (granted) => void tokens.push(await granted()),
    keepConsent: ({ resourceId }) => setting.keeps(resourceId ?? ''),
    dropConsent: async ({ resourceId }) => void kept.delete(resourceId ?? ''),
    credentials: untaken(),
    askForReturn: pasted && (async (state) => new URLSearchParams({ state, ...pasted })),
    say: (text) => void said.push(text),
    quote: (words) => void said.push(`The bank says: ${words}`),
  };
  const lines = () => readLines(folder, flow);
  const setting: LinkedSetting = {
    customer,
    kept,
    keeps: async (resourceId) => void kept.add(resourceId),
    ...{ tokens, said, grant },
    run: (bank) =>
      flows.resume('consent', flow, (open) => runLinkedConsent(open, { bank, world, customer }, grant)),
    ask: (bank) => flows.resume('consent', flow, (open) => recordStatus(open, { bank }, grant)),
    cancel: () => flows.resume('consent', flow, (open) => open.record({ type: 'cancelled' })),
    pauses: () => world.sleeps,
    stored: () => flows.find('consent', flow),
    lines,
    events: () => typesOf(lines()),
  };
  return setting;
}
