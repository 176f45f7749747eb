import { Psd2Error } from '../../errors.ts';
import { StoreMemory } from '../../store/machine/store-choice.ts';
import { always, object, text, whole } from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';
import { type OpenedSide, openSide } from './sides.ts';

const storeCopied = object({
  from: text('store that was copied: a folder; or host, port and database').as('From'),
  to: text('store that it was copied to').as('To'),
  profiles: whole('profiles with data').as('Profiles'),
  logins: whole('logins of customers and applications').as('Logins'),
  flows: whole('payments, operations and consents')
    .as('Flows')
    .shown(({ flows, events }: Record<'flows' | 'events', number>) => `${flows}, with ${events} events`),
  events: whole('events of all flows'),
  others: whole('counts of calls and reads, notes of refusals, who logged in last').as('Counts and notes'),
  written: whole('records that this copy wrote; 0 if the destination had all of them').as('Written now'),
  newer: whole('records that are newer in the destination, because it was used after an earlier copy')
    .as('Compared')
    .written(writeCompared),
  isSame: always(true, 'all records were read again on both sides and compared'),
});

/** `psd2 store copy`: copies a store to another one, and compares both (store page, "Commands"). */
export const copy = verb(
  {
    prints: { what: 'what was copied and compared', shape: storeCopied },
    help: `
Name a store with one of these:
  files                                 the configuration folder
  /srv/psd2                             another configuration folder
  postgres                              the database of PSD2_STORE, or of the profile's setting
  postgres://user@host:5432/database    a database; set its password in PGPASSWORD or PGPASSFILE, not here

psd2 copies tokens, flows with their events, references, counts and notes. In a database and for a protected profile it
encrypts the tokens. What is protected in one folder is copied only to a folder in which it is protected, too.
Profiles, certificates and keys stay on their machine. The next psd2 sync fetches synced data again.

During the copy, no worker can use either store: psd2 waits for the workers that are busy, and refuses new ones. After
that, workers can use the new store. The old one stays unchanged and refuses workers. If the copy is interrupted, run
the same command again: it continues. To go back, copy in the other direction.
A database needs its tables (psd2 store init), and the copy needs the rights of its owner.
${examples('psd2 store copy --from files --to postgres', 'psd2 store copy --from postgres --to files')}`,
  },
  (command) =>
    command
      .requiredOption('--from <store>', 'store to copy: files, a folder, postgres, or an address')
      .requiredOption('--to <store>', 'destination: files, a folder, postgres, or an address'),
  async (context, options) => {
    const { output, terminal, world } = context;
    const source = await openSide(context, '--from', options.from);
    const target = await openSide(context, '--to', options.to);
    const [from, to] = [source.side, target.side];
    await refuseClearText(source, target);
    const { copyStore } = await import('../../store/copy/copy.ts');
    let looked = 0;
    const copied = await terminal.whileWaiting(
      () => `${looked} records`,
      copyStore(from, to, {
        signal: world.signal,
        sleep: world.sleep,
        say: terminal.say,
        onRecord: (count) => {
          looked = count;
        },
      }),
    );
    await follow(context, source, target);
    output.record({ from: from.place, to: to.place, ...copied, isSame: true as const }, storeCopied);
    terminal.say(`Use ${to.place} from now on. ${from.place} is unchanged, and refuses workers.`);
  },
);

/**
 * What a profile's protection encrypts in one folder must not lie in another one in clear text.
 *
 * @throws Psd2Error `config` if the profile is protected in the source alone
 */
async function refuseClearText(from: OpenedSide, to: OpenedSide): Promise<void> {
  if (!to.isProtected) return;
  for (const profile of await from.side.profiles())
    if (from.isProtected?.(profile) && !to.isProtected(profile))
      throw new Psd2Error(
        'config',
        `The profile ${profile} is protected in ${from.side.place}, but not in ${to.side.place}, where its tokens would be in clear text`,
        {
          hint: 'psd2 has copied nothing. Set PSD2_CONFIG_DIR to that folder, and protect the profile there with one of:',
          next: [
            ['profile', 'protect', profile],
            ['profile', 'add', profile, '--protect'],
          ],
        },
      );
}

/**
 * Remembers the destination as the store of each copied profile, if this machine had its data in the source. A setting of
 * the profile then names the destination.
 */
async function follow({ folder }: Context, from: OpenedSide, { side, store }: OpenedSide): Promise<void> {
  if (from.store === undefined || store === undefined) return;
  const [{ id: source }, { id }] = [await from.side.mark(), await side.mark()];
  for (const profile of await from.side.profiles()) {
    const memory = new StoreMemory(folder, profile);
    const before = memory.read();
    const wasInSource =
      before?.home === 'postgres'
        ? before.id === source || before.id === id
        : [from.store.home, store.home].includes('files') && (!before || from.store.home === 'files');
    if (!wasInSource) continue;
    const isSet = before?.isSet ?? false;
    memory.replace(store.home === 'files' ? { ...store, isSet } : { ...store, id, isSet });
  }
}

function writeCompared(newer: number): string {
  return newer === 0
    ? 'the same on both sides'
    : `the same on both sides, except ${newer} that are newer in the destination`;
}
