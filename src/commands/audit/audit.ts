import { Psd2Error } from '../../errors.ts';
import { type AuditFields, checkChain, parseAuditLine, sha256Of } from '../../store/audit/chain.ts';
import { withWords, wordsOf } from '../../store/audit/pseudonyms.ts';
import { AUDIT_ACTIONS } from '../../store/ports/audit.ts';
import type { Flows } from '../../store/ports/flows.ts';
import type { ProfileData } from '../../store/ports/store.ts';
import {
  list,
  object,
  objectOf,
  oneOf,
  orNull,
  seen,
  text,
  time,
  whole,
} from '../../terminal/output/fields.ts';
import type { Context } from '../context.ts';
import { examples, verb } from '../declare.ts';
import { chosenCustomer } from '../flow/customer.ts';
import { readSince } from '../shared/option-values.ts';

const row = objectOf<Row>()(() => ({
  n: whole('number of the line'),
  at: time('when').as('Time', { kind: 'second' }),
  profile: text('profile'),
  action: oneOf(
    AUDIT_ACTIONS,
    'what somebody did; executed: psd2 was about to send execute, for a consent confirm',
  ).as('Action', { whole: true }),
  operator: orNull(text('PSD2_OPERATOR, else the user of the operating system')).as('Operator'),
  user: orNull(text('user of the operating system, also if PSD2_OPERATOR is set'))
    .as('User', { dispensable: 2 })
    .shown(({ user, role }: Row) => [user, role].filter((each) => each !== null).join(' ')),
  role: orNull(text('role of the database; null in files')),
  machine: orNull(text('name of the host')).as('Machine', { dispensable: 2 }),
  version: orNull(text('version of psd2')).as('Version', { dispensable: 3 }),
  customerId: orNull(text('customer, if it is about one; a pseudonym after psd2 customer forget')).as(
    'Customer',
    { whole: true, dispensable: 1 },
  ),
  flow: orNull(text('local id of the flow, if it is about one')).as('Flow', { whole: true }),
  about: orNull(text('kind of the flow; format and account of an export; the changed settings'))
    .as('About')
    .written((about) => about && shortened(about)),
  approver: seen('Approver', approverIn),
  previous: orNull(text('SHA-256 of the stored line before this one; null in the first one')),
  sha256: text('SHA-256 of the stored line'),
})).inList('at action operator user machine customerId flow about version approver');

const rows = list(row);
type Row = AuditFields & { sha256: string };

const verified = object({
  lines: whole('number of lines'),
  sha256: orNull(text('SHA-256 of the last line; keep it elsewhere')).as(''),
});

/** Who approved or rejected a batch: the account of the system may be another person's. */
function approverIn({ action, about }: Row): string | null {
  return ['approved', 'rejected'].includes(action) ? (/, by (.+)$/.exec(about ?? '')?.[1] ?? null) : null;
}

/** With the beginning of a batch's id, which is unique. */
function shortened(about: string): string {
  return about.replace(/^batch [0-9a-f]{64}/, (batch) => batch.slice(0, 'batch '.length + 12));
}

/** `psd2 audit`: who did what, from the audit log of the profile (operations page, "Who did it"). */
export const audit = verb(
  {
    prints: { what: 'who did what', shape: rows },
    printsWith: { '--verify': { what: 'the check of the audit log', shape: verified } },
    help: `
The audit log says who began, approved, confirmed, executed, cancelled or resolved something, logged in or out, exported data or
changed a profile, when and on which machine. PSD2_OPERATOR names the person or job; without it, the user of the operating
system counts. It contains ids, but no names, amounts or IBANs of payees. The oldest line comes first. Its stored lines name customers
and accounts by pseudonyms, which psd2 shows as what they stand for until psd2 customer forget.

psd2 only appends to it. Each line has the SHA-256 of the line before, so a line that was removed or changed shows:
--verify checks all of them. Keep the SHA-256 that it prints in another place; with it, you can also prove that nobody has
written a whole new log. What happened before psd2 kept an audit log is in the journals alone.
${examples('psd2 audit --since 1d', 'psd2 audit -o ndjson | siem-collector', 'psd2 audit --verify')}`,
  },
  (command) =>
    command
      .option(
        '--since <time>',
        'show lines since this time: 2026-11-21, 2026-11-21T09:30:00Z, or 2h, 30m, 1d ago',
      )
      .option(
        '--flow <flow>',
        'show lines of this flow: local id, resource id, reference, or the beginning of an id',
      )
      .option('--verify', 'check that no line was removed or changed'),
  async (context, { since, flow, verify = false }) => {
    const { output, world } = context;
    if (verify && (since !== undefined || flow !== undefined))
      throw new Psd2Error('usage', '--verify always checks all lines', {
        hint: 'Leave out --since and --flow.',
      });
    if (flow === '') throw new Psd2Error('usage', 'The value of --flow is empty');
    const from = since === undefined ? undefined : readSince(since, world.now());
    const customer = await chosenCustomer(context);
    const data = await context.store();
    if (verify) return verifyLog(context, data);
    const id = flow === undefined ? undefined : await flowIdOf(data.flows, flow);
    const isWanted = (line: Row) =>
      (from === undefined || Date.parse(line.at) >= from) &&
      (customer === undefined || line.customerId === customer) &&
      (id === undefined || line.flow?.startsWith(id) === true);
    await output.pages(linePages(data, isWanted), row, 'No line of the audit log matches.');
  },
);

/**
 * The local id of a flow. What no flow matches stays as it is: the log also has batches, and flows whose journals are gone. Of
 * several flows whose ids begin with it, the log shows all.
 */
async function flowIdOf(flows: Flows, reference: string): Promise<string> {
  for (const kind of ['transfer', 'operation', 'consent'] as const) {
    try {
      return (await flows.find(kind, reference)).flow;
    } catch (error) {
      // A damaged journal has lines in the log, too.
      if (!(error instanceof Psd2Error) || !['flow_not_found', 'config'].includes(error.code)) throw error;
    }
  }
  return reference;
}

/** @throws Psd2Error `audit_changed` for a line that nobody can read */
async function* linePages(
  { audit: log, personal }: ProfileData,
  isWanted: (line: Row) => boolean,
): AsyncGenerator<Row[]> {
  const words = wordsOf(await personal.pseudonyms());
  for await (const { n, text: line } of log.lines()) {
    const fields = parseAuditLine(line);
    if (!fields) throw changed(`line ${n} was changed`);
    const row = { ...withWords(fields, words), sha256: sha256Of(line) };
    if (isWanted(row)) yield [row];
  }
}

/** @throws Psd2Error `audit_changed` */
async function verifyLog({ output, terminal }: Context, data: ProfileData): Promise<void> {
  const { audit: log, flows, tokens, batches } = data;
  // First what must have a line, then the head: lines that others append meanwhile come after it.
  const begun = await flowsIn(flows);
  const hasMore = (await tokens.customers()).length > 0 || (await hasAny(batches.list(() => {})));
  const recorded = await log.head();
  const beginning = await log.beginning();
  const { lines, head, broken, began } = await checkChain(log.lines(), recorded, beginning);
  if (broken) throw changed(broken.why);
  if (head === null && (begun.length > 0 || hasMore || beginning !== undefined))
    throw changed('all of it was removed');
  // Whoever removed the whole log cannot begin a new one unseen.
  const missing = begun.find((flow) => !began.has(flow));
  if (missing !== undefined && !(await log.mayLackCopied()))
    throw changed(`the lines of ${missing} were removed`);
  const result = { lines, sha256: head?.sha256 ?? null };
  if (output.format === 'table')
    terminal.say(
      head === null
        ? 'The audit log is empty.'
        : `No line of ${lines} was removed or changed. SHA-256 of the last one:`,
    );
  output.record(result, verified);
}

/** The flows that can be read. Each one has a line from before its journal had any. */
async function flowsIn(flows: Flows): Promise<string[]> {
  const flowIds: string[] = [];
  for (const kind of ['transfer', 'operation', 'consent'] as const)
    for await (const { flow } of flows.list(kind, { onDamaged: () => {} })) flowIds.push(flow);
  return flowIds;
}

async function hasAny(list: AsyncIterable<unknown>): Promise<boolean> {
  for await (const _ of list) return true;
  return false;
}

function changed(why: string): Psd2Error {
  return new Psd2Error('audit_changed', `The audit log is not as psd2 wrote it: ${why}`, {
    hint: 'Find out who could write to the store, and compare the log with a backup. psd2 keeps appending to it.',
  });
}
