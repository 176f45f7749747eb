import { isOpen } from '../../domain/flow-states.ts';
import { isOutcomeOpen } from '../../domain/next-step.ts';
import { needsSettlement } from '../../domain/transfer.ts';
import { Psd2Error } from '../../errors.ts';
import { ENVIRONMENT_PROFILE, parseProfileName } from '../../store/machine/profiles.ts';
import { openProfile } from '../../store/machine/settings.ts';
import {
  chooseStore,
  isDatabaseAddress,
  type RememberedStore,
  refusePassword,
  StoreMemory,
} from '../../store/machine/store-choice.ts';
import { findDatabase, openRemembered } from '../../store/open.ts';
import type { Flows } from '../../store/ports/flows.ts';
import type { Context } from '../context.ts';
import { storeSettingsOf } from '../open/context.ts';
import { confirmed } from '../shared/confirmed.ts';
import { noSuchProfile } from './change.ts';
import { profileShow } from './show.ts';

/**
 * `psd2 profile set <name> --store`: says which store the profile uses on this machine from now on, and that its data is
 * there. It asks first if payments stay behind in the current store.
 *
 * @param name of a stored profile, or `env`
 * @param address `files`, or the address of a database without a password
 * @throws Psd2Error `usage`, `no_profile`, `config`, `confirmation_needed`, `cancelled`. Nothing has changed then
 */
export async function setStore(context: Context, name: string, address: string): Promise<void> {
  const { profiles, folder, env, terminal, output } = context;
  if (name === ENVIRONMENT_PROFILE) openProfile(profiles, name, env);
  else if (!profiles.list().includes(parseProfileName(name))) throw noSuchProfile(name, profiles.list());
  const memory = new StoreMemory(folder, name);
  const wanted = await readStore(context, address);
  // A variable that names no database is refused before anything changes.
  chooseStore(env, wanted);
  const before = memory.read() ?? { home: 'files', isSet: false };
  // A store that was copied to another one can no longer be used.
  if (wanted.home === 'files' || wanted.id !== null) await (await flowsIn(context, name, wanted)).atWork();
  if (!isSameStore(before, wanted)) await confirmLeaving(context, name, before, wanted);
  memory.replace(wanted);
  await warnOfVariable(context, wanted);
  if (output.format === 'table')
    terminal.say(`The profile ${name} uses ${storeName(context, wanted)} from now on.`);
  else await profileShow(context, name);
}

async function readStore({ env, world }: Context, address: string): Promise<RememberedStore> {
  if (address === 'files') return { home: 'files', isSet: true };
  // Do not repeat the value: it may contain a password.
  if (!isDatabaseAddress(address))
    throw new Psd2Error('usage', '--store does not name a store', {
      hint: 'Use files, or postgres://user@host:5432/database.',
    });
  refusePassword('--store', address);
  return { home: 'postgres', ...(await findDatabase(address, env, world.signal, '--store')), isSet: true };
}

function isSameStore(one: RememberedStore, other: RememberedStore): boolean {
  if (one.home === 'files' || other.home === 'files') return one.home === other.home;
  return one.id === null ? one.shown === other.shown : one.id === other.id;
}

/** Asks before payments stay behind, or if psd2 cannot know whether there are any. */
async function confirmLeaving(
  context: Context,
  name: string,
  before: RememberedStore,
  wanted: RememberedStore,
): Promise<void> {
  const left = await describePayments(context, name, before);
  if (left === undefined) return;
  await confirmed(context, {
    text: `${left}. psd2 would not see them, and their references could be used again. Use ${storeName(context, wanted)}?`,
    unasked: left,
    hint: 'To take them along, copy the store with psd2 store copy. To leave them there, add --yes.',
    declined: 'Nothing was changed',
  });
}

/** The payments of the profile in a store, as the beginning of a sentence. Undefined if there are none. */
async function describePayments(
  context: Context,
  name: string,
  store: RememberedStore,
): Promise<string | undefined> {
  const place = storeName(context, store);
  let counts: Payments;
  try {
    counts = await countPayments(await flowsIn(context, name, store));
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code !== 'config') throw error;
    return `Payments of the profile ${name} may stay behind in ${place}, where psd2 cannot look (${error.message})`;
  }
  const { all, unfinished, working } = counts;
  if (working !== undefined)
    throw new Psd2Error('config', `Another psd2 is working on ${working} of the profile ${name}`, {
      hint: 'Wait until it has ended, or interrupt it. Nothing was changed.',
    });
  if (all === 0) return undefined;
  const payments = `${all} ${all === 1 ? 'payment' : 'payments'} of the profile ${name}`;
  return `${payments} would stay behind in ${place}, ${unfinished} of them unfinished`;
}

/** The flows of the profile in a store, which it may use or not. @throws Psd2Error `config` */
async function flowsIn(context: Context, name: string, store: RememberedStore): Promise<Flows> {
  const opened = await openRemembered(storeSettingsOf(context, name), store);
  context.onEnd(() => opened.close());
  return opened.open(name).flows;
}

interface Payments {
  all: number;
  unfinished: number;
  /** A flow that another psd2 works on. */
  working: string | undefined;
}

async function countPayments(flows: Flows): Promise<Payments> {
  const [working] = await flows.atWork();
  const count = { all: 0, unfinished: 0, working: working?.flow };
  const onDamaged = () => {
    count.all += 1;
    count.unfinished += 1;
  };
  for (const kind of ['transfer', 'operation'] as const) {
    for await (const payment of flows.list(kind, { onDamaged })) {
      const settles = 'instant' in payment.order && needsSettlement(payment.order);
      count.all += 1;
      if (isOpen(payment) || isOutcomeOpen(payment, settles)) count.unfinished += 1;
    }
  }
  return count;
}

/** Warns if `PSD2_STORE` names another store: psd2 refuses it from now on. */
async function warnOfVariable({ env, world, terminal }: Context, wanted: RememberedStore): Promise<void> {
  const { PSD2_STORE: address } = env;
  if (!address) return;
  if (wanted.home === 'postgres') {
    const named = await findDatabase(address, env, world.signal).catch(() => undefined);
    if (named === undefined || isSameStore(wanted, { home: 'postgres', ...named, isSet: false })) return;
  }
  terminal.warn('PSD2_STORE names another store. psd2 refuses commands of the profile until you unset it.');
}

function storeName({ folder }: Context, store: RememberedStore): string {
  return store.home === 'files' ? `the files in ${folder.root}` : `PostgreSQL at ${store.shown}`;
}
