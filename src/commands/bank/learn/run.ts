import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { writeCommand } from '../../../advice.ts';
import { credentialsAt, nextgenpsd2 } from '../../../bank/interfaces/nextgenpsd2/description/description.ts';
import type { BankFile } from '../../../bank/interfaces/nextgenpsd2/description/schema.ts';
import { checkBankFile, isBankFile, readBankFile } from '../../../bank-file/bank-file.ts';
import { looksLikePlatform } from '../../../bank-file/platforms.ts';
import { bankDay } from '../../../domain/calendar.ts';
import { Psd2Error } from '../../../errors.ts';
import { withLock } from '../../../store/disk/lock.ts';
import { ENVIRONMENT_PROFILE } from '../../../store/machine/profiles.ts';
import { adviceOnEmbedded } from '../../../store/machine/settings.ts';
import type { ValueOf } from '../../../terminal/output/fields.ts';
import type { Context } from '../../context.ts';
import { readReferences } from '../../shared/account-references.ts';
import { confirmed } from '../../shared/confirmed.ts';
import { readPsu } from '../../shared/psu.ts';
import { requireFile, saveDocument } from '../../shared/save-document.ts';
import { Asker, Stopped } from './asker.ts';
import { type BegunThing, BegunThings } from './begun.ts';
import { FIELDS, learnConsents } from './consents.ts';
import { Draft, type Finding, ONLY, ORDER } from './draft.ts';
import { finding, learned } from './learned.ts';
import { learnFiles, learnFunds, learnProducts } from './payments.ts';
import { learnSignature } from './signature.ts';

/** Fields that no question shows, as long as no customer is there. */
const NOT_ASKED = ['oauth.names', 'oauth.scope', 'oauth.clientAuth'];

const NO_QUESTION =
  "psd2 cannot ask for it: the bank's documentation says it. Unless the file has it, psd2 assumes possible";

interface LearnOptions {
  extends?: string | undefined;
  account?: string | undefined;
  psuId?: string | undefined;
}

/**
 * Asks a bank what its file must say, and writes the file (NextGenPSD2, "Learning a bank").
 *
 * @throws Psd2Error if no consent could be begun; `confirmation_needed`, `cancelled`, `usage`, `config`
 */
export async function learnBank(context: Context, file: string, options: LearnOptions): Promise<void> {
  const { globals, world } = context;
  const { own, below } = await readDraft(context, file, options);
  const { name, settings } = await context.unsealed();
  const [account] = options.account === undefined ? [] : await readReferences(context, [options.account]);
  const psuId = options.psuId === undefined ? undefined : readPsu('--psu-id', options.psuId);
  const baseUrl = own.api?.baseUrl ?? below.api?.baseUrl ?? settings.baseUrl;
  const named: BankFile = { ...own, ...(baseUrl !== undefined && { api: { ...own.api, baseUrl } }) };
  const draft = new Draft(named, below, bankDay(world.now()));
  const profile = { name, settings: { ...settings, ...(baseUrl !== undefined && { baseUrl }) } };
  const path = context.folder.learning(name);
  const work = async () => {
    const begun = new BegunThings(path);
    const asker = new Asker(context, profile, draft, begun, { account, psuId });
    await confirmPlan(context, asker, file);
    const outcome = await askInTurn(context, asker);
    draft.lack('payments.executesWithoutSca', NO_QUESTION);
    for (const field of NOT_ASKED)
      draft.lack(field, 'psd2 cannot ask for it: it shows only when a customer logs in');
    const isWritten = draft.hasLearned && (await save(context, asker, file));
    const result = { ok: asker.hasBegun, file: isWritten ? file : null, extends: own.extends ?? 'standard' };
    for (const line of await draft.proof()) context.terminal.say(line);
    await printLearned(context, asker, { ...result, left: [...outcome.left] });
    sayLeft(context, asker, outcome.left);
    // Nobody can end what has no id, or what the bank does not know.
    for (const thing of outcome.left) if (thing.id === null || asker.isNotKnown(thing)) begun.drop(thing);
    if (isWritten) sayNext(context, asker, file);
    if (!asker.hasBegun) throw noConsent(outcome.error);
    const advice = adviceOnEmbedded(profile, credentialsAt(await draft.describe()));
    if (advice) throw notAllowed(name, advice);
  };
  if (globals.raw) throw new Psd2Error('usage', '--raw works only with the commands that read from the bank');
  await withLock(path, 'What psd2 bank learn has begun', work, 6_000, world.signal);
}

/** What the file says so far, and what it extends. @throws Psd2Error `usage`, `config` */
async function readDraft(
  context: Context,
  file: string,
  { extends: platform }: LearnOptions,
): Promise<{ own: BankFile; below: BankFile }> {
  if (file === '' || file === '-')
    throw new Psd2Error('usage', 'The path of the bank file is missing', {
      hint: 'For example mybank.json.',
    });
  requireFile(context, file, 'text');
  if (looksLikePlatform(file))
    throw new Psd2Error('usage', `${file} looks like the name of a platform, not like a file`, {
      hint: `For example ./${file}.json.`,
    });
  if (existsSync(file)) {
    const { file: below, layers } = await readBankFile(file, ONLY);
    const own = layers[0]?.content;
    if (!isBankFile(own, nextgenpsd2)) throw new TypeError('A bank file that was read is none');
    if (platform === undefined || platform === (own.extends ?? 'standard')) return { own, below };
    throw new Psd2Error('usage', `${file} extends ${own.extends ?? 'nothing'}, not ${platform}`, {
      hint: 'Leave out --extends, or name a new file.',
    });
  }
  const nothing: BankFile = { interface: 'nextgenpsd2' };
  if (platform === undefined) return { own: nothing, below: nothing };
  const isBeside = !looksLikePlatform(platform);
  if (isBeside && basename(platform) !== platform.replace(/^\.\//, ''))
    throw new Psd2Error(
      'usage',
      '--extends must name a platform, or a bank file in the folder of the new file',
    );
  const { file: below } = await readBankFile(isBeside ? join(dirname(file), platform) : platform, ONLY);
  return { own: { ...nothing, extends: platform }, below };
}

/** Says what psd2 will ask, and asks for a yes. @throws Psd2Error `confirmation_needed`, `cancelled` */
async function confirmPlan(context: Context, { bank, known: named }: Asker, file: string): Promise<void> {
  const { terminal } = context;
  const lines = [
    `psd2 asks ${bank}, slowly, and stops if the bank minds:`,
    '- which signature: readings with a consent that does not exist, one change at a time',
    '- which consents, and how customers authorise: about ten consents, each deleted at once',
    '- which lists of transactions: those of an account that does not exist, with a consent that nobody has authorised',
    '- which payment products: an empty object to each, which is no payment. What a bank makes of it all the same, it cancels at once',
    '- whether there is an OAuth server: its metadata',
    named.psuId === undefined
      ? 'It names no customer, so the bank can ask nobody.'
      : `It names the customer ${named.psuId}, whom the bank may ask.`,
    existsSync(file)
      ? `What has changed since goes into ${file}.`
      : `The result goes into the new file ${file}.`,
  ];
  for (const line of lines) terminal.say(line);
  await confirmed(context, {
    text: 'Ask the bank?',
    unasked: 'psd2 begins consents at the bank, which it deletes at once',
    hint: 'Add --yes.',
    declined: 'Nothing was asked',
  });
}

interface Outcome {
  left: readonly BegunThing[];
  /** Why psd2 stopped, or why no consent could be begun. */
  error: Psd2Error | null;
}

/** Asks everything. Whatever happens, what psd2 has begun ends. */
async function askInTurn(context: Context, asker: Asker): Promise<Outcome> {
  const { terminal, world } = context;
  const text = () => `Asking the bank: ${asker.asked} ${asker.asked === 1 ? 'question' : 'questions'} so far`;
  let error: Psd2Error | null;
  try {
    error = await terminal.whileWaiting(text, askAll(asker));
  } catch (failure) {
    sayLeft(context, asker, await asker.endAll());
    throw failure;
  }
  return {
    error,
    left: await world.finish('The end of the consents that psd2 has begun', () => asker.endAll()),
  };
}

/** @returns why psd2 stopped, or why no consent could be begun */
async function askAll(asker: Asker): Promise<Psd2Error | null> {
  try {
    const refusal = await learnConsents(asker, await learnSignature(asker)).catch((error: unknown) => {
      if (!(error instanceof Stopped) || error.what !== 'consents') throw error;
      lackAll(asker, FIELDS, error.message);
      return null;
    });
    const services = await learnProducts(asker);
    await learnFunds(asker);
    // A bank may take anything for a file of payments, so these questions come last.
    await learnFiles(asker, services);
    return refusal;
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    lackAll(asker, ['signing', ...FIELDS, 'payments.products', 'funds.consent'], error.message);
    return error.error;
  }
}

function lackAll({ draft }: Asker, fields: readonly string[], reason: string): void {
  for (const field of fields) draft.lack(field, reason);
}

/** Writes the file, and checks it as `psd2 bank check` does. An existing file changes only after a yes. @returns whether it did */
async function save(context: Context, asker: Asker, file: string): Promise<boolean> {
  const { draft, bank } = asker;
  const { globals, terminal } = context;
  const isNew = !existsSync(file);
  if (!isNew && !globals.yes && !(await terminal.confirm(`Write what was learned into ${file}?`)))
    return false;
  const text = `${JSON.stringify(draft.file(new URL(bank).host), null, 2)}\n`;
  await saveDocument(context, file, Buffer.from(text));
  const { problems } = await checkBankFile(file, ONLY);
  if (problems.length === 0) return true;
  throw new Psd2Error('config', `What psd2 learned is not a valid bank file: ${problems[0]?.message}`, {
    next: [['bank', 'check', file]],
  });
}

/** Says how to go on with the file. psd2 cannot ask a bank for everything that a login needs. */
function sayNext({ terminal, globals, profileName }: Context, { hasBegun }: Asker, file: string): void {
  const name = profileName();
  const profile = globals.profile === undefined ? [] : ['--profile', name];
  const command = (...words: string[]) => writeCommand([...profile, ...words]);
  terminal.say(
    name === ENVIRONMENT_PROFILE
      ? `Next, name the file in the environment, as PSD2_BANK: ${file}`
      : `Next, store it in the profile: ${writeCommand(['profile', 'set', name, '--bank', file])}`,
  );
  terminal.say(
    hasBegun
      ? `Then ask a customer for a consent: ${command('consent', 'request')}`
      : `Then look at what is left: ${command('doctor')}`,
  );
}

function sayLeft({ terminal }: Context, asker: Asker, left: readonly BegunThing[]): void {
  for (const thing of left) {
    const { what, id, at, bank, requestId } = thing;
    const further = asker.isNotKnown(thing)
      ? 'The bank does not know it with this certificate, so psd2 cannot end it.'
      : 'The next psd2 bank learn tries again to delete it.';
    terminal.warn(
      id === null
        ? `The bank did not say what became of ${what}, so it may be left at ${bank} (X-Request-ID ${requestId}, ${at}). Nobody has its link, so nobody can authorise it.`
        : `${what} ${id} is left at ${bank} (${at}). Nobody has its link, so nobody can authorise it. ${further}`,
    );
  }
}

function noConsent(error: Psd2Error | null): Psd2Error {
  const why = error ?? new Psd2Error('bank_answer', 'The answer of the bank has no id of a consent');
  const hint =
    why.code === 'not_logged_in'
      ? 'The bank wants a login first. Store the file in the profile, log a customer in, and ask for a consent.'
      : 'What psd2 found out so far is in the list.';
  return why.restated(why.code, `No consent could be begun. ${why.message}`).with({ hint });
}

/** What was learned holds, and nobody can authorise anything there. */
function notAllowed(profile: string, advice: NonNullable<ReturnType<typeof adviceOnEmbedded>>): Psd2Error {
  return new Psd2Error(
    'config',
    `The bank has embedded SCA alone: its customers give psd2 PIN and TAN. The profile ${profile} does not allow it`,
    advice,
  );
}

type Learned = ValueOf<typeof learned>;

/** Prints what was learned, in the order of the draft. */
async function printLearned(
  context: Context,
  { draft, bank, asked: calls }: Asker,
  result: Pick<Learned, 'ok' | 'file' | 'extends' | 'left'>,
): Promise<void> {
  const { output, stdoutIsTerminal } = context;
  const findings = draft.inOrder;
  if (output.format !== 'table') output.record({ ...result, bank, calls, findings }, learned);
  else if (stdoutIsTerminal) output.lines(await findingLines(context, findings, result.extends));
  else await output.table(findings, finding, '');
}

/** For a person: the values by heading, each with what the bank answered below it. */
async function findingLines(
  { stdoutColumns }: Context,
  findings: readonly Finding[],
  platform: string,
): Promise<string[]> {
  const { wrapWords } = await import('../../../terminal/cells.ts');
  const columns = stdoutColumns || 80;
  const indented = (text: string, by: number) =>
    wrapWords(text, columns - by).map((line) => `${' '.repeat(by)}${line}`);
  const heading = {
    differs: `Differs from ${platform}`,
    same: `As ${platform} says`,
    said: 'Seen, and no field says it',
    unknown: 'Not found out',
  };
  return ORDER.flatMap((status) => {
    const own = findings.filter((finding) => finding.status === status);
    if (own.length === 0) return [];
    const lines = own.flatMap(({ field, value, was, asked: question, answered, reason }) => [
      ...indented(
        `${field}${value === null ? '' : `: ${value}`}${status === 'differs' && was !== null ? ` (before: ${was})` : ''}`,
        2,
      ),
      ...(reason === null ? [] : indented(reason, 6)),
      ...(question === null ? [] : indented(`${question}: ${answered}`, 6)),
    ]);
    return [heading[status], ...lines, ''];
  });
}
