import { bankDay } from '../../domain/calendar.ts';
import { paymentHolder } from '../../domain/identifiers.ts';
import { type NameOf, pseudonymisedEvent, pseudonymisedLine } from '../../domain/pseudonymised.ts';
import { removeCalls } from '../../store/machine/call-log.ts';
import type { Removed } from '../../store/ports/personal.ts';
import {
  list,
  object,
  oneOf,
  orNull,
  seen,
  text,
  time,
  type ValueOf,
  whole,
} from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { collect, examples, verb } from '../declare.ts';
import { confirmed } from '../shared/confirmed.ts';
import { requireSyncFolder } from '../shared/sync-folder.ts';
import { type EndedAtBank, endConsents, endLogin, openForEnding } from './at-bank.ts';
import { type Collected, callsFor, collectFor, customerNames, hasNothing } from './collected.ts';
import { refuseDamaged, refuseUnfinished } from './unfinished.ts';

/** What people see a part of. */
interface AtBank {
  atBank: { tokens: string[]; consents: string[] };
}
interface Kept {
  pseudonymised: { flows: string[]; batches: string[]; auditLines: number };
}

const proof = object({
  profile: text('profile of psd2'),
  customerId: text('the customer that psd2 has forgotten').as('Customer'),
  pseudonym: orNull(text('what journals and audit log call the customer now; null if nothing was stored')).as(
    'Pseudonym',
  ),
  forgottenAt: time('when'),
  atBank: object(
    {
      tokens: list(oneOf(['refresh_token', 'access_token'], 'kind'), 'tokens that the bank has revoked'),
      consents: list(text(), 'ids of the consents that the bank has ended'),
      refused: list(text(), 'what the bank did not end, in words'),
    },
    'what ended at the bank',
  ),
  tokens: seen('Tokens revoked', ({ atBank }: AtBank) => atBank.tokens.join(', ')),
  consents: seen('Consents ended', ({ atBank }: AtBank) => atBank.consents.join(', ')),
  removed: list(
    object({ name: text('table, file or folder'), count: whole('number of rows, lines or files') }),
    'what was removed',
  )
    .as('Removed')
    .written((removed) => removed.map(({ name, count }) => `${name} (${count})`).join(', ')),
  pseudonymised: object(
    {
      flows: list(text(), 'local ids of the flows'),
      batches: list(text(), 'ids of the batches'),
      auditLines: whole('lines of the audit log, which did not change: only their pseudonym stays'),
    },
    'records that the law wants kept, without what identifies the customer',
  ),
  journals: seen('Journals kept', ({ pseudonymised }: Kept) => `${pseudonymised.flows.length}`),
  batches: seen('Batches kept', ({ pseudonymised }: Kept) => `${pseudonymised.batches.length}`),
  damagedBatches: list(text(), 'ids of the batches that --leave-damaged left as they are')
    .as('Batches not read')
    .written((batches) => batches.join(', ')),
  auditLines: seen('Audit lines kept', ({ pseudonymised }: Kept) => `${pseudonymised.auditLines}`),
  elsewhere: list(text(), 'what psd2 cannot reach from here, in words')
    .as('Not reached')
    .written((places) => places.join('; ')),
});
type Proof = ValueOf<typeof proof>;

const ELSEWHERE = [
  'backups of the store and of this machine',
  'files that other commands have saved: exports, reports, receipts, batch files and bundles of the log',
  'the log of calls and the sync folders of other machines: run the same command there',
];

export const forget = verb(
  {
    prints: { what: 'the proof: what was removed, and what stays under a pseudonym', shape: proof },
    help: `
psd2 ends the customer's consents and tokens at the bank. Then it removes tokens, consents, synced accounts and transactions,
counts, the calls in this machine's log, and the files in the folders of psd2 sync --out. Journals of payments stay, because
the law wants them kept, but without the customer: a random pseudonym replaces the customer and their accounts. Amounts, dates,
states, payees and references stay, so that nothing is paid twice. The audit log does not change, and --verify still
succeeds: its lines had the pseudonym from the beginning, and psd2 forgets whose it was.

psd2 refuses if a payment of the customer, or a batch with one, is not over, or if it cannot read a batch. If the command is interrupted, run it again: it
continues. With PostgreSQL it needs the rights of the owner of the tables. On stdout it prints the proof.
${examples('psd2 customer forget 1048262', 'psd2 customer forget 1048262 --yes --json > forgotten.json')}`,
  },
  (command) =>
    command
      .argument('<customer>')
      .option(
        '--sync-folder <folder>',
        'also remove files from this folder of psd2 sync --out; may be repeated',
        collect,
        [],
      )
      .option(
        '--leave-damaged',
        'leave batches as they are that psd2 cannot read or that somebody has changed',
      )
      .option('--no-revoke', 'end nothing at the bank, for example if it can no longer be reached'),
  async (context, customer, { syncFolder, revoke, leaveDamaged = false }) => {
    for (const folder of syncFolder) requireSyncFolder(folder);
    const customerId = (await context.bankInterface()).readCustomerId(customer);
    const data = await context.store();
    await data.personal.assertMayForget();
    const collected = await collectFor(context, customerId, syncFolder);
    const refuse = async (customerData: Collected) => {
      if (!leaveDamaged) refuseDamaged(customerData);
      await refuseUnfinished(data, customerData, bankDay(context.world.now()));
    };
    await refuse(collected);
    if (revoke && !hasNothing(collected)) await openForEnding(context, customerId);
    if (!hasNothing(collected)) await confirmForgetting(context, collected, revoke);
    // No payment begins from now on, and what began since the first look is found.
    const result = await data.flows.exclusively(async () => {
      const now = await collectFor(context, customerId, syncFolder);
      await refuse(now);
      if (hasNothing(now)) return nothing(context, customerId, await removeFromLog(context, now));
      return forgetNow(context, customerId, syncFolder, revoke);
    });
    printProof(context, result);
  },
);

async function confirmForgetting(context: Context, collected: Collected, revokes: boolean): Promise<void> {
  const { customerId, flows, logins } = collected;
  const what = [
    `${flows.length} ${flows.length === 1 ? 'flow' : 'flows'}`,
    `${logins.length} ${logins.length === 1 ? 'login' : 'logins'}`,
  ].join(' and ');
  const bank = revokes ? ' Consents and tokens end at the bank.' : '';
  await confirmed(context, {
    text: `Forget customer ${customerId} of ${context.profile().name}, with ${what}? This cannot be undone.${bank}`,
    unasked: 'Forgetting a customer needs a confirmation',
    hint: 'Add --yes. To keep a copy of the data, first run psd2 customer export.',
    declined: 'Nothing was forgotten',
  });
}

/** The first event of a flow. */
const beginning = object({ transactionId: text() });

/** Each step finds what an interrupted run has left. Whose the pseudonyms are is forgotten last. */
async function forgetNow(
  context: Context,
  customerId: string,
  syncFolders: readonly string[],
  revokes: boolean,
): Promise<Proof> {
  const { personal, audit } = await context.store();
  await audit.append({ action: 'forgot', customerId });
  const ended: EndedAtBank = { tokens: [], consents: [], refused: [] };
  if (revokes) await endConsents(context, customerId, ended);
  await endLogin(context, customerId, revokes, ended);
  const collected = await collectFor(context, customerId, syncFolders);
  const { tokens } = await context.store();
  for (const { events } of collected.flows) {
    const begun: unknown = events[0]?.event;
    if (beginning.is(begun)) await tokens.erase(paymentHolder(begun.transactionId));
  }
  await forgetPins(context, customerId);
  await noteForgotten(context, collected);
  const nameOf = await namesFor(context, collected);
  const removed: Removed[] = [];
  for (const { folder } of collected.folders)
    removed.push({ name: folder, count: await personal.syncedInto(folder).remove(customerId) });
  await pseudonymise(context, collected, nameOf);
  removed.push(...(await personal.removeRows(customerId)));
  // Once more: a command that began in the middle of this may know the customer.
  await noteForgotten(context, collected);
  removed.unshift(...(await removeFromLog(context, collected)));
  await personal.forgetPseudonyms(customerId);
  return {
    profile: context.profile().name,
    customerId,
    pseudonym: nameOf(customerId) ?? null,
    forgottenAt: context.world.now().toISOString(),
    atBank: ended,
    removed,
    damagedBatches: collected.damagedBatches.map(({ batch }) => batch),
    pseudonymised: {
      flows: collected.flows.map(({ flow }) => flow),
      batches: collected.batches.map(({ batch }) => batch.batch),
      auditLines: collected.audit.length,
    },
    elsewhere: ELSEWHERE,
  };
}

/** The count of PINs that no bank has accepted is kept by PSU-ID, which goes with the rows. */
async function forgetPins(context: Context, customerId: string): Promise<void> {
  const { customers, pins } = await context.store();
  const psuId = (await customers.read(customerId))?.psu.id;
  if (psuId !== undefined && psuId !== null) await (await pins()).clear(psuId);
}

/** Gives the customer and each account a pseudonym, durably: a later run uses the same ones. */
async function namesFor(context: Context, { customerId, accounts }: Collected): Promise<NameOf> {
  const { personal } = await context.store();
  const names = new Map<string, string>();
  for (const word of [customerId, ...accounts]) names.set(word, await personal.pseudonymOf(customerId, word));
  return (word) => names.get(word);
}

/** Commands that run meanwhile, or are stopped, write nothing more of the customer when they go on. */
function noteForgotten(context: Context, collected: Collected): Promise<void> {
  const { folder, world } = context;
  return folder.forgotten.add(context.profile().name, customerNames(collected), world.now());
}

async function removeFromLog(context: Context, collected: Collected): Promise<Removed[]> {
  const { folder, world } = context;
  const count = removeCalls(folder.log, world.now().toISOString(), callsFor(context, collected));
  return count > 0 ? [{ name: 'log of calls', count }] : [];
}

/** The batches first: a line is found by its flow. */
async function pseudonymise(context: Context, collected: Collected, nameOf: NameOf): Promise<void> {
  const { personal, batches } = await context.store();
  for (const { batch, lines } of collected.batches) {
    const theirs = new Set(lines.map(({ line }) => line));
    await batches.pseudonymise(batch, (line) =>
      theirs.has(line.line) ? pseudonymisedLine(line, nameOf) : line,
    );
  }
  for (const { flow } of collected.flows)
    await personal.rewriteFlow(flow, (event) => pseudonymisedEvent(event, nameOf));
}

function nothing(context: Context, customerId: string, removed: Removed[]): Proof {
  const { name } = context.profile();
  context.terminal.say(`psd2 has nothing stored about customer ${customerId} of ${name}.`);
  return {
    profile: name,
    customerId,
    pseudonym: null,
    forgottenAt: context.world.now().toISOString(),
    atBank: { tokens: [], consents: [], refused: [] },
    removed,
    damagedBatches: [],
    pseudonymised: { flows: [], batches: [], auditLines: 0 },
    elsewhere: ELSEWHERE,
  };
}

function printProof({ output, terminal }: Context, result: Proof): void {
  if (result.atBank.refused.length > 0)
    terminal.warn(`The bank did not end everything: ${result.atBank.refused.join('; ')}.`);
  output.record(result, proof);
}
