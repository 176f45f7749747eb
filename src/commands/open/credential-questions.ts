import * as z from 'zod/mini';
import { writeCommand } from '../../advice.ts';
import type { EmbeddedCustomers, ScaChallenge, ScaMethod } from '../../domain/embedded.ts';
import { spacedIban } from '../../domain/order/iban.ts';
import { endSentence, Psd2Error } from '../../errors.ts';
import type { CredentialPorts, CredentialQuestion, CredentialResult } from '../../flows/ports.ts';
import { Secret } from '../../secret.ts';
import { baseUrlOf } from '../../store/machine/settings.ts';
import { quoted } from '../../terminal/challenge/bank-text.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context, CustomerBank } from '../context.ts';
import type { Described } from '../flow/describe.ts';
import { writeDescribed } from '../flow/fields.ts';
import { readCredential } from '../shared/credential-files.ts';
import { isOptical, showChallenge } from './show-challenge.ts';

/** The questions of `CredentialPorts`, once one is asked. */
export type CredentialQuestions = Omit<CredentialPorts, 'refusal'>;

/** One more PIN that nobody knows to be right needs a person who says yes: three block the customer at most banks. */
const MOST_UNACCEPTED = { file: 1, person: 2 } as const;

const LABELS = 8;
const COMPARE = 'Compare on your device: IBAN and amount.';

/** @param takes how the bank file says that the bank sees its customers */
export function openQuestions(
  context: Context,
  { customerId, profile }: Pick<CustomerBank, 'customerId' | 'profile'>,
  takes: EmbeddedCustomers,
): CredentialQuestions {
  const { terminal, credentials = {} } = context;
  /** What a file was read for: none is read twice for the same. */
  const wasRead = new Set<string>();
  let picture: { remove(): void } | undefined;
  let chosen: string | undefined;

  const who = ({ psuId }: CredentialQuestion) =>
    psuId === undefined
      ? 'the customer'
      : `${cleanText(psuId)}${takes.label === undefined ? '' : ` (${cleanText(takes.label)})`}`;
  const introduce = (kind: 'PIN' | 'TAN', question: CredentialQuestion, more: Described = []) => {
    const lines: Described = [...describeSubject(question), ...more, ...describeHost(profile, takes)];
    const title = terminal.marked(
      `The bank asks for the ${kind} of ${who(question)}. Only this person types it.`,
    );
    terminal.warn(`\n${writeDescribed(title, lines, LABELS)}`);
    if (question.message) terminal.warn(quoted(question.message, terminal.size.columns));
  };
  /** The value of a file, if it was not read for the same before. Null: there is no such file now. */
  const fromFile = async (kind: 'PIN' | 'TAN', question: CredentialQuestion): Promise<string | null> => {
    const path = kind === 'PIN' ? credentials.psuPasswordFile : credentials.otpFile;
    if (path === undefined) return null;
    const use = [kind, keyOf(question), question.psuId].join(' ');
    if (question.wasSent || wasRead.has(use) || (path === '-' && wasRead.has(kind))) {
      terminal.warn(`psd2 sends the ${kind} of a file only once.`);
      return null;
    }
    wasRead.add(use).add(kind);
    return readCredential(context, path, kind);
  };

  return {
    async password(question) {
      const pins = await (await context.store()).pins();
      for (;;) {
        const sent = await pins.count(question.psuId);
        const file = await fromFile('PIN', question);
        if (file === null && !terminal.canAsk) return null;
        if (!(await mayTry(context, sent, file === null ? 'person' : 'file', who(question)))) return null;
        if (file === null) introduce('PIN', question);
        const value = file ?? (await terminal.askCredential('PIN (not shown; Enter alone sends nothing)'));
        if (value === '') return null;
        if (await pins.add(question.psuId, sent)) return new Secret(value);
        terminal.warn(`Another psd2 has sent a PIN of ${who(question)} meanwhile, so this one was not sent.`);
      }
    },

    async method(methods, question) {
      const [only, ...others] = methods;
      if (only && others.length === 0) return only.id;
      const named = methodNamed(methods, credentials.scaMethod);
      if (credentials.scaMethod !== undefined && named === undefined)
        terminal.warn(`The bank has no method ${cleanText(credentials.scaMethod)} for ${who(question)}.`);
      const last = (await keptOf(context, customerId, question))?.scaMethod;
      chosen = named?.id ?? (terminal.canAsk ? await chooseMethod(context, methods, last) : undefined);
      return chosen ?? null;
    },

    async code(challenge, question) {
      const file = await fromFile('TAN', question);
      if (file === null && !terminal.canAsk) return null;
      if (file !== null) return file === '' ? null : new Secret(file);
      const { method } = challenge;
      introduce('TAN', question, [['Method', method ? nameOf(method) : null]]);
      picture ??= await showChallenge(context, challenge);
      terminal.warn(COMPARE);
      const value = await terminal.askCredential(
        `TAN${formOf(challenge)} (not shown; Enter alone sends nothing)`,
      );
      return value === '' ? null : new Secret(value);
    },

    async beginsAgain(question) {
      if (!terminal.canAsk) return false;
      return terminal.confirm(
        `This authorisation cannot go on. Begin another one, with a new PIN or TAN of ${who(question)}?`,
      );
    },

    async note(what, question, result) {
      await recordCredential(context, { customerId, host: baseUrlOf(profile).host }, what, question, result);
      if (result !== 'accepted') return;
      if (what === 'password') await (await (await context.store()).pins()).clear(question.psuId);
      const kept = chosen !== undefined && (await keptOf(context, customerId, question));
      if (!kept || what !== 'code' || chosen === undefined || kept.scaMethod === chosen) return;
      const scaMethod = chosen;
      await (await context.store()).customers.change(customerId, (before) => ({ ...before, scaMethod }));
    },

    async close() {
      terminal.showTyping();
      picture?.remove();
      picture = undefined;
    },
  };
}

/** @throws Psd2Error `confirmation_needed` if only a person may say that another PIN is sent, and nobody is there */
async function mayTry(
  { terminal }: Context,
  sent: number,
  from: keyof typeof MOST_UNACCEPTED,
  who: string,
): Promise<boolean> {
  if (sent < MOST_UNACCEPTED[from]) return true;
  const many = sent === 1 ? 'One PIN' : `${sent} PINs`;
  const message = `${many} of ${who} ${sent === 1 ? 'was' : 'were'} sent, and the bank has accepted none`;
  if (!terminal.canAsk)
    throw new Psd2Error(
      'confirmation_needed',
      `${message}, so a person must say that psd2 sends another one`,
      {
        hint: 'Three refused ones block the customer at most banks. Ask the customer, then run it at a terminal.',
      },
    );
  terminal.warn(`${message}. Three refused ones block the customer at most banks.`);
  return terminal.confirm('Is the PIN certainly right, and shall psd2 send it?');
}

/** Of a customer whose own authorisation this is. */
async function keptOf(context: Context, customerId: string, { psuId }: CredentialQuestion) {
  const kept = await (await context.store()).customers.read(customerId);
  return kept && (kept.psu.id ?? undefined) === psuId ? kept : undefined;
}

const ordered = z.union([
  z.object({ to: z.string(), name: z.string(), amount: z.string(), currency: z.string() }),
  z.object({ operation: z.string(), data: z.string() }),
]);
const together = z.object({
  ...{ batch: z.string(), lines: z.array(z.number()), amount: z.string(), currency: z.string() },
});

/** What the customer authorises. */
function describeSubject({ subject }: CredentialQuestion): Described {
  if (subject.kind === 'consent') return [['For', `the consent ${subject.flow}`]];
  const what = subject.kind === 'payment' ? 'For' : 'Cancels';
  const { data: order } = ordered.safeParse(subject.payment.order);
  if (!order) return [[what, `the payment ${subject.payment.flow}`]];
  if ('to' in order)
    return [
      ['For', subject.kind === 'payment' ? null : 'cancelling this payment'],
      ['Payee', order.name],
      ['IBAN', spacedIban(order.to)],
      ['Amount', `${order.amount} ${order.currency}`],
    ];
  const many = together.safeParse(jsonOf(order.data)).data;
  if (!many) return [[what, `${order.operation} ${subject.payment.flow}`]];
  const { batch, lines, amount, currency } = many;
  return [
    [what, `${lines.length} payments together`],
    ['Amount', `${amount} ${currency} in all`],
    ['See them', writeCommand(['batch', 'show', batch])],
  ];
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Tells one subject from another. */
function keyOf({ subject }: CredentialQuestion): string {
  return `${subject.kind} ${subject.kind === 'consent' ? subject.flow : subject.payment.flow}`;
}

/** The host that gets the credential, in ASCII. A gateway is named beside the bank, and so is a CA that the operator has chosen. */
function describeHost(profile: CustomerBank['profile'], { address }: EmbeddedCustomers): Described {
  const { host } = baseUrlOf(profile);
  const bank = address === undefined ? host : new URL(address).host;
  const { ca } = profile.settings;
  return [
    ['Sent to', host],
    ['Gateway', bank === host ? null : `this one is not the bank's own host, ${bank}`],
    ['CA', ca && `${'path' in ca ? ca.path : "the profile's own"}, instead of the system's`],
  ];
}

function nameOf({ name, type }: ScaMethod): string {
  return name === undefined ? type : `${name} (${type})`;
}

/** A method by what an operator calls it. Undefined: none, or more than one, is called so. */
function methodNamed(methods: readonly ScaMethod[], named: string | undefined): ScaMethod | undefined {
  if (named === undefined) return undefined;
  const wanted = named.toLowerCase();
  for (const of of ['id', 'type', 'name'] as const) {
    const [found, ...others] = methods.filter((method) => method[of]?.toLowerCase() === wanted);
    if (found && others.length === 0) return found;
  }
  return undefined;
}

/** The person chooses: what they took last time first, what psd2 cannot play last. At many banks the choice is final. */
async function chooseMethod(
  { terminal }: Context,
  methods: readonly ScaMethod[],
  last: string | undefined,
): Promise<string> {
  const rank = (method: ScaMethod) => (whyNotPlayed(method) !== null ? 2 : method.id === last ? 0 : 1);
  const choices = methods
    .toSorted((one, other) => rank(one) - rank(other))
    .map((method) => {
      const { id, explanation } = method;
      const more = [explanation, whyNotPlayed(method)]
        .filter(Boolean)
        .map((text) => endSentence(String(text)));
      return {
        value: id,
        name: cleanText([nameOf(method), ...more].join('. ')),
        short: cleanText(nameOf(method)),
      };
    });
  return terminal.choose('Which method? The choice is final at many banks', choices);
}

/** Why psd2 cannot play a method: a reader that is held to the screen wants a code that flickers. */
function whyNotPlayed(method: ScaMethod): string | null {
  return isOptical(method) ? 'psd2 shows no flickering code: choose the one by hand' : null;
}

/** What the bank says of the form of a TAN. It helps, and refuses nothing. */
function formOf({ otpMaxLength, otpFormat }: ScaChallenge): string {
  const most = /^\d{1,3}$/.exec(otpMaxLength?.trim() ?? '')?.[0];
  const signs = /int|num|digit/i.test(otpFormat ?? '') ? 'digits' : 'characters';
  return most === undefined ? '' : `, at most ${most} ${signs}`;
}

/** Writes a line of the audit log: who had a PIN or TAN of whom passed on to which host, for what, and what the bank said. */
async function recordCredential(
  context: Context,
  { customerId, host }: { customerId: string; host: string },
  what: 'password' | 'code',
  { psuId, subject }: CredentialQuestion,
  result: CredentialResult,
): Promise<void> {
  const flow = subject.kind === 'consent' ? subject.flow : subject.payment.flow;
  const about = `${what === 'password' ? 'PIN' : 'TAN'} ${result}, ${subject.kind}, ${host}, PSU-ID`;
  const { audit } = await context.store();
  await audit.append({
    ...{ action: 'authenticated', customerId, flow },
    ...(psuId === undefined ? { about: `${about} not named` } : { about, account: psuId }),
  });
}
