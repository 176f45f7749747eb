import type { Repeated } from '../advice.ts';
import type { PaceState } from '../bank/call/pace.ts';
import { Psd2Error } from '../errors.ts';
import type { WorldPorts } from '../flows/ports.ts';
import type { StoreFolder } from '../store/machine/folder.ts';
import { ENVIRONMENT_PROFILE, type ProfileStore } from '../store/machine/profiles.ts';
import { type Environment, openProfile, type Profile } from '../store/machine/settings.ts';
import type { StoreSettings } from '../store/open.ts';
import type { ProfileData, Store } from '../store/ports/store.ts';
import type { GrantType } from '../store/ports/tokens.ts';
import type { Output } from '../terminal/output/output.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { AccountReads } from './open/account-reads.ts';
import type { ApplicationBank, CustomerBank, Transport } from './open/bank.ts';
import type { KeyRing } from './open/keys.ts';

/** The global options, from the option, the environment or the default. */
export interface Globals {
  profile: string | undefined;
  customer: string | undefined;
  grant: GrantType;
  /** The operator confirms everything in advance. */
  yes: boolean;
  verbose: boolean;
  /** Print the bank's own answers, byte for byte. */
  raw: boolean;
  /** Show the address for the customer instead of opening it. */
  noBrowser: boolean;
  /** Also show the address as a QR code. */
  qrCode: boolean;
  timeoutMs: number;
  scaTimeoutMs: number;
  psuIpAddress: string | undefined;
  language: string | undefined;
  /** The component of `CB-Trace-Id`. */
  traceComponent: string | undefined;
}

/** Where a value comes from (command contract, "Precedence"). */
export type Source = 'option' | 'environment' | 'profile' | 'default';

/** The world in which a command runs. */
export interface Surroundings {
  globals: Globals;
  /** Where the value of a global option comes from. */
  sourceOf(option: 'profile' | 'customer' | 'timeout' | 'scaTimeout' | 'psuIp' | 'lang' | 'trace'): Source;
  /** Options of this command that the commands in its messages repeat. */
  repeated: Repeated;
  env: Environment;
  folder: StoreFolder;
  profiles: ProfileStore;
  /** The flows that this command has opened or begun, by their transaction id. */
  openFlows: Map<string, string>;
  terminal: Terminal;
  output: Output;
  /** Writes bytes of the bank to stdout as they are. */
  printBytes(bytes: Uint8Array): void;
  stdoutIsTerminal: boolean;
  /** Both streams go to a terminal, as a table: a person reads them. */
  isForPerson: boolean;
  /** The terminal's width in cells, if stdout is a terminal that knows it. */
  stdoutColumns: number | undefined;
  world: WorldPorts & { random: () => number };
  /** The pace of other threads that call the same bank. */
  pace?: PaceState;
  /** What other threads count with, too. */
  tally?: SharedArrayBuffer;
  /**
   * From now on the first Ctrl-C, or the first SIGTERM, ends nothing by itself: it aborts this signal alone, whose reason is
   * the name of the system's signal. The next one interrupts.
   */
  stopGently(): AbortSignal;
  /** Standard input as one text. */
  readStdin(): Promise<string>;
  /** Registers work for the end of the command, whether it succeeds or fails. */
  onEnd(close: () => Promise<void>): void;
}

/**
 * The profile that a command works with, and its resources. Each resource is opened on first use, and only once. All throw
 * Psd2Error if the resource can't be opened.
 */
export interface ProfileContext extends Surroundings {
  /** Its settings, without decrypting anything. @throws Psd2Error `no_profile`, `config` */
  profile(): Profile;
  /** Its settings, decrypted. @throws Psd2Error `config` if they can't be decrypted */
  unsealed(): Promise<Profile>;
  /** The store that it uses, with the data of all profiles. Opening it reads no data yet. */
  home(): Promise<Store>;
  /** The name of the profile, also if its settings are missing or damaged. */
  profileName(): string;
  /**
   * Its tokens and flows. Names the interrupted flows, once.
   *
   * @param own the flow that this command continues, as the operator named it; it is not named as interrupted
   */
  store(own?: string): Promise<ProfileData>;
  /** The number of reads of its customers' accounts while the customer is not there. */
  reads(): Promise<AccountReads>;
  /** Its certificates and keys, each read on first use. */
  keys(): Promise<KeyRing>;
  /** What all calls of an application share: certificates, signer, connection, pace. Sends nothing yet. */
  transport(grant?: GrantType): Promise<Transport>;
  /** The bank, for calls of an application that concern no customer. */
  applicationBank(grant?: GrantType): Promise<ApplicationBank>;
}

/** The context of every command. */
export interface Context extends ProfileContext {
  /** The bank, with the customer's token. Inquiries that need SCA send the customer to the bank. */
  bank(): Promise<CustomerBank>;
  /** The same, while the customer is not there. */
  unattendedBank(): Promise<CustomerBank>;
  /** A context for another customer of the profile. It shares the profile's open resources. */
  forCustomer(customerId: string): Context;
  /** A context for another profile, by its name or its settings. */
  forProfile(profile: string | Profile): Context;
}

/** Makes the context of a command. Opens nothing yet. */
export function openContext(world: Surroundings): Context {
  return withBank(openProfileContext(world));
}

async function openHome(world: Surroundings, profile: string): Promise<Store> {
  const { openStore } = await import('../store/open.ts');
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

function openProfileContext(world: Surroundings, given?: Profile): ProfileContext {
  const context: ProfileContext = {
    ...world,
    profile: once(() => given ?? chosenProfile(world)),
    profileName: () => nameOfProfile(context),
    home: once(() => openHome(world, context.profileName())),
    unsealed: once(async () => {
      const profile = context.profile();
      const { name, settings } = profile;
      if (!settings.sealed) return profile;
      return { name, settings: { ...(await world.profiles.readSealed(name)), ...settings } };
    }),
    store: once(async (own?: string) => (await import('./open/store.ts')).openStore(context, own)),
    reads: once(async () => (await import('./open/account-reads.ts')).openAccountReads(context)),
    keys: once(async () => (await import('./open/keys.ts')).openKeyRing(context, await context.unsealed())),
    transport: onceFor(async (grant: GrantType) => (await openBank()).openTransport(context, grant), world),
    applicationBank: onceFor(
      async (grant: GrantType) =>
        (await openBank()).openApplicationBank(context, await context.transport(grant)),
      world,
    ),
  };
  return context;
}

function withBank(profile: ProfileContext): Context {
  const context: Context = {
    ...profile,
    bank: once(async () => (await openBank()).openCustomerBank(context)),
    unattendedBank: once(async () => (await openBank()).openUnattendedBank(context)),
    forCustomer: (customer) => withBank({ ...profile, globals: { ...profile.globals, customer } }),
    forProfile: (other) =>
      withBank(
        typeof other === 'string'
          ? openProfileContext({
              ...profile,
              globals: { ...profile.globals, profile: other },
              repeated: { ...profile.repeated, profile: other },
            })
          : openProfileContext(profile, other),
      ),
  };
  return context;
}

const openBank = () => import('./open/bank.ts');

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
