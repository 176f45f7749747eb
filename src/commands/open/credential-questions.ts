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
  opened: Pick<CustomerBank, 'customerId' | 'profile'>,
  takes: EmbeddedCustomers,
): CredentialQuestions {
  return new Questions(context, opened, takes);
}

class Questions implements CredentialQuestions {
  readonly #context: Context;
  readonly #customerId: string;
  readonly #profile: CustomerBank['profile'];
  readonly #takes: EmbeddedCustomers;
  readonly #files: CredentialFiles;
  #picture: { remove(): void } | undefined;
  /** The challenge that the picture is of. */
  #pictured: string | undefined;
  #chosen: string | undefined;

  constructor(
    context: Context,
    { customerId, profile }: Pick<CustomerBank, 'customerId' | 'profile'>,
    takes: EmbeddedCustomers,
  ) {
    this.#context = context;
    this.#customerId = customerId;
    this.#profile = profile;
    this.#takes = takes;
    this.#files = new CredentialFiles(context);
  }

  async password(question: CredentialQuestion): Promise<Secret | null> {
    const { terminal } = this.#context;
    const pins = await this.#pins();
    const who = this.#who(question);
    for (;;) {
      const sent = await pins.count(question.psuId);
      const file = await this.#files.read('PIN', question);
      if (file === null && !terminal.canAsk) return null;
      if (!(await mayTry(this.#context, sent, file === null ? 'person' : 'file', who))) return null;
      if (file === null) this.#introduce('PIN', question);
      const value = file ?? (await terminal.askCredential('PIN (not shown; Enter alone sends nothing)'));
      if (value === '') return null;
      if (await pins.add(question.psuId, sent)) return new Secret(value);
      terminal.warn(`Another psd2 has sent a PIN of ${who} meanwhile, so this one was not sent.`);
    }
  }

  async method(methods: readonly ScaMethod[], question: CredentialQuestion): Promise<string | null> {
    const [only, ...others] = methods;
    // Another authorisation may have other methods.
    this.#chosen = undefined;
    if (only && others.length === 0) return only.id;
    const { terminal, credentials = {} } = this.#context;
    const named = methodsNamed(methods, credentials.scaMethod);
    if (credentials.scaMethod !== undefined && named.length !== 1)
      terminal.warn(whyNotOne(named, credentials.scaMethod, this.#who(question)));
    const [one, ...more] = named;
    if (one && more.length === 0) this.#chosen = one.id;
    else if (terminal.canAsk) {
      const last = (await this.#keptOf(question))?.scaMethod;
      this.#chosen = await chooseMethod(this.#context, methods, last);
    }
    return this.#chosen ?? null;
  }

  async code(
    challenge: ScaChallenge & { method?: ScaMethod },
    question: CredentialQuestion,
  ): Promise<Secret | null> {
    const { terminal } = this.#context;
    const file = await this.#files.read('TAN', question);
    if (file === null && !terminal.canAsk) return null;
    if (file !== null) return file === '' ? null : new Secret(file);
    const { method } = challenge;
    this.#introduce('TAN', question, [['Method', method ? methodName(method) : null]]);
    if (question.wasSent) terminal.warn('psd2 has sent one before. Each is valid once: type another one.');
    await this.#show(challenge);
    terminal.warn(COMPARE);
    const value = await terminal.askCredential(
      `TAN${formOfTan(challenge)} (not shown; Enter alone sends nothing)`,
    );
    return value === '' ? null : new Secret(value);
  }

  async beginsAgain(question: CredentialQuestion): Promise<boolean> {
    const { terminal } = this.#context;
    if (!terminal.canAsk) return false;
    return terminal.confirm(
      `This authorisation cannot go on. Begin another one, with a new PIN or TAN of ${this.#who(question)}?`,
    );
  }

  async note(
    what: 'password' | 'code',
    question: CredentialQuestion,
    result: CredentialResult,
  ): Promise<void> {
    const customerId = this.#customerId;
    const at = { customerId, host: baseUrlOf(this.#profile).host };
    await recordCredential(this.#context, at, what, question, result);
    if (result !== 'accepted') return;
    if (what === 'password') await (await this.#pins()).clear(question.psuId);
    else await this.#keepMethod(question);
  }

  async close(): Promise<void> {
    this.#context.terminal.showTyping();
    this.#picture?.remove();
    this.#picture = undefined;
  }

  async #pins() {
    return (await this.#context.store()).pins();
  }

  /** Another authorisation has another challenge. A picture that is still there is not saved again. */
  async #show(challenge: ScaChallenge & { method?: ScaMethod }): Promise<void> {
    const now = JSON.stringify(challenge);
    if (this.#picture !== undefined && this.#pictured === now) return;
    this.#picture?.remove();
    this.#picture = await showChallenge(this.#context, challenge);
    this.#pictured = now;
  }

  /** Next time this method is the first one. */
  async #keepMethod(question: CredentialQuestion): Promise<void> {
    const scaMethod = this.#chosen;
    if (scaMethod === undefined) return;
    const record = await this.#keptOf(question);
    if (!record || record.scaMethod === scaMethod) return;
    const { customers } = await this.#context.store();
    await customers.change(this.#customerId, (before) => ({ ...before, scaMethod }));
  }

  /** Of a customer whose own authorisation this is. */
  async #keptOf({ psuId }: CredentialQuestion) {
    const record = await (await this.#context.store()).customers.read(this.#customerId);
    return record && (record.psu.id ?? undefined) === psuId ? record : undefined;
  }

  #who({ psuId }: CredentialQuestion): string {
    const { label } = this.#takes;
    if (psuId === undefined) return 'the customer';
    return `${cleanText(psuId)}${label === undefined ? '' : ` (${cleanText(label)})`}`;
  }

  /** Says what stands before each question (docs/embedded.md). */
  #introduce(kind: 'PIN' | 'TAN', question: CredentialQuestion, more: Described = []): void {
    const { terminal } = this.#context;
    const lines: Described = [
      ...describeSubject(question),
      ...more,
      ...describeHost(this.#profile, this.#takes),
    ];
    const title = terminal.marked(
      `The bank asks for the ${kind} of ${this.#who(question)}. Only this person types it.`,
    );
    terminal.warn(`\n${writeDescribed(title, lines, LABELS)}`);
    if (question.message) terminal.warn(quoted(question.message, terminal.size.columns));
  }
}

/** The values of files, each once for the same. */
class CredentialFiles {
  readonly #context: Context;
  /** What a file was read for. */
  readonly #wasRead = new Set<string>();

  constructor(context: Context) {
    this.#context = context;
  }

  /** The value of a file, if it was not read for the same before. Null: there is no such file now. */
  async read(kind: 'PIN' | 'TAN', question: CredentialQuestion): Promise<string | null> {
    const { credentials = {}, terminal } = this.#context;
    const path = kind === 'PIN' ? credentials.psuPasswordFile : credentials.otpFile;
    if (path === undefined) return null;
    const use = [kind, keyOf(question), question.psuId].join(' ');
    if (question.wasSent || this.#wasRead.has(use) || (path === '-' && this.#wasRead.has(kind))) {
      terminal.warn(`psd2 sends the ${kind} of a file only once.`);
      return null;
    }
    this.#wasRead.add(use).add(kind);
    return readCredential(this.#context, path, kind);
  }
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

const ordered = z.union([
  z.object({ to: z.string(), name: z.string(), amount: z.string(), currency: z.string() }),
  z.object({ operation: z.string(), data: z.string() }),
]);
const together = z.object({
  batch: z.string(),
  lines: z.array(z.number()),
  amount: z.string(),
  currency: z.string(),
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

function methodName({ name, type }: ScaMethod): string {
  return name === undefined ? type : `${name} (${type})`;
}

/** The methods that an operator calls so: by its id, else by its type or name. One alone is what they mean. */
function methodsNamed(methods: readonly ScaMethod[], named: string | undefined): readonly ScaMethod[] {
  const wanted = named?.toLowerCase();
  const byEach = (['id', 'type', 'name'] as const).map((field) =>
    methods.filter((method) => wanted !== undefined && method[field]?.toLowerCase() === wanted),
  );
  return byEach.find((those) => those.length === 1) ?? byEach.find((those) => those.length > 1) ?? [];
}

function whyNotOne(methods: readonly ScaMethod[], named: string, who: string): string {
  if (methods.length === 0) return `The bank has no method ${cleanText(named)} for ${who}.`;
  const each = methods.map((method) => `${method.id}, ${methodName(method)}`).join('; ');
  return `${methods.length} methods of ${who} are called ${cleanText(named)}. Name one by its id: ${cleanText(each)}.`;
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
        name: cleanText([methodName(method), ...more].join('. ')),
        short: cleanText(methodName(method)),
      };
    });
  return terminal.choose('Which method? The choice is final at many banks', choices);
}

/** Why psd2 cannot play a method: a reader that is held to the screen wants a code that flickers. */
function whyNotPlayed(method: ScaMethod): string | null {
  return isOptical(method) ? 'psd2 shows no flickering code: choose the one by hand' : null;
}

/** What the bank says of the form of a TAN. It helps, and refuses nothing. */
function formOfTan({ otpMaxLength, otpFormat }: ScaChallenge): string {
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
    action: 'authenticated',
    customerId,
    flow,
    ...(psuId === undefined ? { about: `${about} not named` } : { about, account: psuId }),
  });
}
