import { ACCESS } from '../../advice.ts';
import type { BankInterface, Capability } from '../../bank/ports/bank.ts';
import { lacking } from '../../domain/interface-name.ts';
import { type Advice, Psd2Error } from '../../errors.ts';
import { ENVIRONMENT_PROFILE } from '../../store/machine/profiles.ts';
import { baseUrlOf, openProfile, type Profile } from '../../store/machine/settings.ts';
import type { StoreSettings } from '../../store/machine/store-choice.ts';
import type { ProfileData, Store } from '../../store/ports/store.ts';
import type { GrantType } from '../../store/ports/tokens.ts';
import type { Context, Globals, ProfileContext, Surroundings } from '../context.ts';
import type { FindInterface } from './bank.ts';

/**
 * A profile with a bank file is at the bank that it describes, any other one at the bank that psd2 began with. What a profile stores is
 * opened once: a sync asks for it with each customer. A file that PSD2_BANK names may change meanwhile.
 */
function findIn({ env, folder }: Pick<Surroundings, 'env' | 'folder'>): FindInterface {
  const interfaces = new Map<string | undefined, Awaited<ReturnType<FindInterface>>>();
  const open = async (setting: string | undefined, profile: () => Profile) => {
    const { DEFAULT_INTERFACE, interfaceNamed } = await import('../../bank/open.ts');
    if (setting === undefined) return interfaceNamed(DEFAULT_INTERFACE);
    const { checkedBank } = await import('../../store/machine/checked-bank.ts');
    const { bankOf } = await import('./bank-file.ts');
    const bank = await bankOf(setting, env, checkedBank(folder.checkedBank(profile().name)));
    return interfaceNamed(bank.interface, bank);
  };
  return async (profile) => {
    const setting = bankSettingOf(profile);
    const opened = interfaces.get(setting) ?? (await open(setting, profile));
    if (setting === undefined || setting.startsWith('{')) interfaces.set(setting, opened);
    return opened;
  };
}

/** Without a profile there is no bank file. The call that needs one says so. */
function bankSettingOf(profile: () => Profile): string | undefined {
  try {
    return profile().settings.bank;
  } catch (error) {
    if (error instanceof Psd2Error && error.code === 'no_profile') return undefined;
    throw error;
  }
}

/** Makes the context of a command. Opens nothing yet. */
export function openContext(world: Surroundings, find: FindInterface = findIn(world)): Context {
  return derive(world, find);
}

async function openWholeStore(world: Surroundings, profile: string): Promise<Store> {
  const { openStore } = await import('../../store/open.ts');
  const store = await openStore(storeSettingsOf(world, profile));
  world.onEnd(() => store.close());
  return store;
}

/** What the store of a profile needs from the world of a command. */
export function storeSettingsOf(
  { env, folder, profiles, terminal, world, openFlows }: Surroundings,
  profile: string,
): StoreSettings {
  return {
    env,
    folder,
    profile,
    keySources: profiles.keySources,
    sleep: world.sleep,
    vaultOf: (name) => profiles.vault(name),
    notice: terminal.warn,
    now: world.now,
    random: world.random,
    onFlow: (transactionId, flow) => openFlows.set(transactionId, flow),
  };
}

/** What is opened of a profile, by what it depends on: its settings alone, its name and its bank, or all of its surroundings. */
interface Opened {
  settings: Pick<ProfileContext, 'profile' | 'profileName' | 'unsealed' | 'keys'>;
  data: Pick<ProfileContext, 'wholeStore' | 'store' | 'reads' | 'bankInterface' | 'needs'>;
  calls: Pick<ProfileContext, 'transport' | 'applicationBank'>;
}

/**
 * Makes a context. What it does not share is opened when it is first asked for.
 *
 * @param shared what another context has opened, or will open: what stays the same in this one
 * @param profile the settings; without them, those of the chosen profile
 */
function derive(
  world: Surroundings,
  find: FindInterface,
  shared: Partial<Opened> = {},
  profile?: Profile,
): Context {
  const ofProfile = (): ProfileContext => context;
  const {
    settings = openSettings(world, ofProfile, profile),
    data = openData(world, ofProfile, find),
    calls = openCalls(world, ofProfile, find),
  } = shared;
  const again = (changes: Partial<Surroundings>, stays: Partial<Opened>, other?: Profile) =>
    derive({ ...world, ...changes }, find, stays, other);
  const withGlobals = (changes: Partial<Globals>) => ({ globals: { ...world.globals, ...changes } });
  const context: Context = {
    ...world,
    ...settings,
    ...data,
    ...calls,
    bank: once(async () => (await openBank()).openCustomerBank(context, find)),
    unattendedBank: once(async () => (await openBank()).openUnattendedBank(context, find)),
    forCustomer: (customer) => again(withGlobals({ customer }), { settings, data, calls }),
    forLookups: () =>
      world.globals.raw ? again(withGlobals({ raw: false }), { settings, data, calls }) : context,
    withKeysOf: (fresh, counters) => again(counters, { data }, fresh),
    within: (changes) => again(changes, { settings, data }),
    forProfile: (other) => {
      if (typeof other !== 'string') return again({}, {}, other);
      const repeated = { ...world.repeated, profile: other, login: undefined };
      return again({ ...withGlobals({ profile: other }), repeated }, {});
    },
  };
  return context;
}

function openSettings(
  world: Surroundings,
  context: () => ProfileContext,
  profile: Profile | undefined,
): Opened['settings'] {
  return {
    profile: once(() => profile ?? chosenProfile(world)),
    profileName: () => nameOfProfile(context()),
    unsealed: once(async () => {
      const stored = context().profile();
      const { name, settings } = stored;
      if (!settings.sealed) return stored;
      return { name, settings: { ...(await world.profiles.readSealed(name)), ...settings } };
    }),
    keys: once(async () => (await import('./keys.ts')).openKeyRing(context(), await context().unsealed())),
  };
}

function openData(world: Surroundings, context: () => ProfileContext, find: FindInterface): Opened['data'] {
  return {
    wholeStore: once(() => openWholeStore(world, context().profileName())),
    store: once((own?: string) => openProfileData(context(), own)),
    reads: once(async () => (await import('./call-records.ts')).openAccountReads(context())),
    bankInterface: once(async () => {
      const bank = await find(context().profile);
      world.repeated.login = ACCESS[bank.logsIn];
      return bank;
    }),
    needs: async (capability) => refuseLacking(await context().bankInterface(), capability),
  };
}

function openCalls(world: Surroundings, context: () => ProfileContext, find: FindInterface): Opened['calls'] {
  return {
    transport: onceFor(async (grant) => (await openBank()).openTransport(context(), grant), world),
    applicationBank: onceFor(
      async (grant) =>
        (await openBank()).openApplicationBank(context(), await context().transport(grant), find),
      world,
    ),
  };
}

const openBank = () => import('./bank.ts');

/**
 * Opens the profile's stored data. Names its interrupted flows.
 *
 * @param own the flow that this command continues, as the operator named it
 * @throws Psd2Error `no_profile`, `config`
 */
async function openProfileData(context: ProfileContext, own?: string): Promise<ProfileData> {
  const profile = context.profile();
  const baseUrl = baseUrlOf(profile);
  const data = (await context.wholeStore()).open(profile.name, baseUrl);
  const { nameInterruptedFlows } = await import('../flow/interrupted.ts');
  await nameInterruptedFlows(context, data.flows, own);
  return data;
}

/** The one place where psd2 refuses what an interface lacks. @throws Psd2Error `usage` */
function refuseLacking({ name, has }: BankInterface, capability: Capability): void {
  if (has.has(capability)) return;
  throw lacking(name, capability, INSTEAD[capability]);
}

/** What the operator can do instead. */
const INSTEAD: Partial<Record<Capability, Advice>> = {
  payments: { hint: 'psd2 has sent nothing. At such a bank, psd2 only reads.' },
  products: { hint: 'See the accounts with:', next: [['accounts', 'list']] },
};

/** The chosen profile. In production, every question is marked from now on. */
function chosenProfile({ profiles, globals, env, terminal }: Surroundings): Profile {
  const profile = openProfile(profiles, globals.profile, env);
  if (profile.settings.environment === 'production') terminal.mark(`PRODUCTION ${profile.name}`);
  return profile;
}

/** Commands that need no settings, such as `store status`, work without them. */
function nameOfProfile({ profile, profiles, globals }: ProfileContext): string {
  try {
    return profile().name;
  } catch (error) {
    if (!(error instanceof Psd2Error)) throw error;
    return globals.profile ?? profiles.current() ?? ENVIRONMENT_PROFILE;
  }
}

/** Calls `open` once and returns its value again from then on: also a rejected promise, but not after a thrown error. */
function once<Args extends unknown[], Value>(open: (...args: Args) => Value): (...args: Args) => Value {
  let opened: { value: Value } | undefined;
  return (...args) => {
    opened ??= { value: open(...args) };
    return opened.value;
  };
}

/** Like {@link once}, for each grant. Without a grant, it uses the chosen one. */
function onceFor<Value>(
  open: (grant: GrantType) => Value,
  { globals }: Surroundings,
): (grant?: GrantType) => Value {
  const opened = new Map<GrantType, Value>();
  return (grant = globals.grant) => {
    const value = opened.get(grant) ?? open(grant);
    opened.set(grant, value);
    return value;
  };
}
