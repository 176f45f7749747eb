import { answerCheck } from '../bank/answer-check.ts';
import { type Bank, openBank, type TokenSource } from '../bank/bank.ts';
import {
  type ComposedRequest,
  type ComposeSettings,
  composeRequest,
  type Identity,
} from '../bank/compose.ts';
import { type BankConnection, connectToBank } from '../bank/connection.ts';
import { type Answer, type BankCall, openExchange } from '../bank/exchange.ts';
import type { ClientCredentials } from '../bank/oauth.ts';
import { Pace } from '../bank/pace.ts';
import type { KeyPair } from '../certificates/key-pair.ts';
import { bankDay } from '../domain/calendar.ts';
import { parseCustomerId } from '../domain/identifiers.ts';
import { Psd2Error } from '../errors.ts';
import { withScaForInquiries } from '../flows/inquiry.ts';
import { openSession } from '../flows/session.ts';
import { keySigner } from '../signature/http-signature.ts';
import { CallCounter } from '../store/call-counter.ts';
import { FlowJournal } from '../store/journal.ts';
import {
  DEFAULT_TPP_CERTIFICATE,
  dailyLimitOf,
  openProfile,
  type Profile,
  parseBaseUrl,
  readPem,
  requireSetting,
} from '../store/settings.ts';
import { type GrantType, TokenStore } from '../store/tokens.ts';
import { cleanText } from '../terminal/clean.ts';
import { callLogger } from './call-logger.ts';
import type { Context } from './context.ts';
import { customerPortsOf } from './customer-ports.ts';
import { nameInterruptedFlows } from './interrupted-flows.ts';
import { type KeyRing, openKeyRing } from './open-keys.ts';

/** A profile with what is stored under it. */
export interface OpenProfile {
  profile: Profile;
  baseUrl: URL;
  tokens: TokenStore;
  journal: FlowJournal;
}

/** The bank of a profile, connected for one grant. */
export interface OpenBank extends OpenProfile {
  /** The bank's session id, once an answer has brought it. */
  session: { apiTrackId: string | undefined };
  /** Without tokens for the OAuth calls; with a source of tokens for the private ones. */
  connect(tokens?: TokenSource): Bank;
  client(): ClientCredentials;
  /** The request that a call would be sent as. */
  compose(call: BankCall): Promise<ComposedRequest>;
}

/** The bank as one customer's token opens it. */
export interface CustomerBank extends OpenBank {
  bank: Bank;
  accessTokens: TokenSource;
  customerId: string;
  /** Whose tokens the calls are made with: the customer's, or null for the application's own. */
  holder: string | null;
}

/**
 * The profile that this command works with; what is encrypted of it stays so. Says which of its flows were interrupted.
 *
 * @param own the flow that the command takes up, as the operator named it
 * @throws Psd2Error `no_profile`, `config`
 */
export function openProfileOf(context: Context, own?: string): OpenProfile {
  const { folder, globals, openFlows, world } = context;
  const profile = openProfile(context.profiles, globals.profile, context.env);
  const baseUrl = parseBaseUrl(requireSetting(profile, 'baseUrl'));
  const journal = new FlowJournal(folder, profile.name, world.now, world.random, openFlows);
  nameInterruptedFlows(context, journal, own);
  markProduction(context, profile);
  return {
    profile,
    baseUrl,
    tokens: new TokenStore(
      folder,
      profile.name,
      baseUrl,
      context.terminal.warn,
      context.profiles.vault(profile.name),
    ),
    journal,
  };
}

/** From now on every question says that it is about real money. */
export function markProduction({ terminal }: Context, { name, settings }: Profile): void {
  if (settings.environment === 'production') terminal.mark(`PRODUCTION ${name}`);
}

/** What the calls of all customers of a profile share. */
export interface Transport {
  /** With its secrets. */
  profile: Profile;
  grant: GrantType;
  connection: BankConnection;
  pace: Pace;
  identity: Identity;
  checkAnswer: ReturnType<typeof answerCheck>;
  /** Counts a call with client credentials. */
  countCall(): void;
  log: ReturnType<typeof callLogger>;
}

/**
 * Reads and checks a profile's certificates and keys; nothing is sent yet.
 *
 * @throws Psd2Error `config`, `certificate`
 */
export async function openTransport(
  context: Context,
  opened: OpenProfile,
  grant: GrantType,
  given?: KeyRing,
): Promise<Transport> {
  const { profiles, world } = context;
  const { baseUrl } = opened;
  // Of a protected profile it is in hand before the bank grants tokens, which have to be kept.
  await profiles.vault(opened.profile.name).key();
  const profile = await openSecrets(context, opened.profile);
  const keys = given ?? openKeyRing(context, profile);
  const qwac = await keys.pair('QWAC');
  const signing = await openSigner(context, profile, keys, qwac);
  const counter = new CallCounter(context.folder, profile.name);
  if (grant === 'client_credentials') warnNearLimit(context, profile, counter);
  const connection = connectToBank(baseUrl, qwac, readPem(profile, 'ca'));
  context.onEnd(() => connection.close());
  return {
    profile,
    grant,
    connection,
    countCall: unlessItFails(context.terminal, () => counter.count(bankDay(world.now()))),
    // Not the time of day: a clock that is put back would hold up the next call as long.
    pace: new Pace({ ...world, clock: () => performance.now() }),
    log: callLogger(context, profile.name, baseUrl.host),
    checkAnswer: answerCheck(readPem(profile, 'bankSigningCertificate')),
    identity: {
      applicationName: applicationNameOf(profile, keysOf(grant).applicationName),
      ...signing,
      tppCertificate: profile.settings.tppCertificate ?? DEFAULT_TPP_CERTIFICATE,
    },
  };
}

/** Who makes the signatures: the QSealC's key, or the QWAC's where there is no QSealC, or the operator's command. */
async function openSigner(
  context: Context,
  { settings }: Profile,
  keys: KeyRing,
  qwac: KeyPair,
): Promise<Pick<Identity, 'signer' | 'signingCertificate'>> {
  const sealed = settings.qsealCertificate ?? settings.qsealKey;
  if (settings.signer !== undefined) {
    const { outsideSigner } = await import('./outside-signer.ts');
    const certificate = sealed ? await keys.certificate('QSealC') : qwac.certificate;
    return { signer: outsideSigner(context, settings.signer, certificate), signingCertificate: certificate };
  }
  const { key, certificate } = sealed ? await keys.pair('QSealC') : qwac;
  return { signer: keySigner(key), signingCertificate: certificate };
}

/** The profile with its secrets. @throws Psd2Error `config` when they can't be decrypted */
export async function openSecrets({ profiles }: Context, profile: Profile): Promise<Profile> {
  if (!profile.settings.sealed) return profile;
  return { ...profile, settings: { ...(await profiles.readSealed(profile.name)), ...profile.settings } };
}

/**
 * Opens the way to a profile's bank: certificates are read and checked; nothing is sent yet.
 *
 * @throws Psd2Error `config`, `certificate`
 */
export async function openBankOf(
  context: Context,
  opened: OpenProfile,
  grant: GrantType,
  keys?: KeyRing,
): Promise<OpenBank> {
  return openBankOver(context, opened, await openTransport(context, opened, grant, keys));
}

function openBankOver(
  context: Context,
  opened: OpenProfile,
  { profile, grant, connection, pace, identity, checkAnswer, countCall, log }: Transport,
  apiTrackId?: string,
): OpenBank {
  const { globals, terminal, world } = context;
  const { baseUrl } = opened;
  const session = { apiTrackId };
  const keys = keysOf(grant);
  const composing: ComposeSettings = {
    pathPrefix: baseUrl.pathname === '/' ? '' : baseUrl.pathname,
    identity,
    psuIpAddress: globals.psuIpAddress,
    language: globals.language,
    traceComponent: globals.traceComponent,
    session,
    ...world,
  };
  const exchange = openExchange({
    ...composing,
    ...world,
    connection,
    pace,
    timeoutMs: globals.timeoutMs,
    checkAnswer,
    observe: (call) => {
      log(call);
      if (grant === 'client_credentials' && call.isPrivate) countCall();
      if (!globals.verbose) return;
      const ids = `request ${call.tppRequestId} transaction ${call.transactionId}${call.apiTrackId ? ` track ${call.apiTrackId}` : ''}`;
      terminal.say(
        cleanText(`${call.method} ${call.path} → ${call.outcome} in ${call.milliseconds} ms (${ids})`),
      );
    },
  });
  const notice = (message: { text: string; code: string | null }) => {
    terminal.warn(cleanText(`The bank says: ${message.text}${message.code ? ` [${message.code}]` : ''}`));
  };

  return {
    ...opened,
    session,
    compose: (call) => composeRequest(call, composing),
    connect: (tokens) => openBank(exchange, notice, tokens, tokens && printIfRaw(context)),
    client: () => ({
      clientId: requireSetting(profile, keys.clientId),
      clientSecret: requireSetting(profile, keys.clientSecret),
    }),
  };
}

/**
 * Opens the bank for calls on a customer's behalf, with the grant that the operator chose. Inquiries that need
 * SCA send the customer there.
 *
 * @throws Psd2Error `not_logged_in` when no customer is known, and what {@link openTransport} throws
 */
export async function openCustomerBank(context: Context): Promise<CustomerBank> {
  const { globals, world } = context;
  const opened = openProfileOf(context);
  const customerId = customerOf(context, opened);
  const transport = await openTransport(context, opened, globals.grant);
  const unattended = openUnattendedBank(context, opened, transport, customerId);
  const bank = withScaForInquiries(unattended.bank, {
    customer: customerPortsOf(context, opened.profile),
    world,
    get maySendCustomer() {
      return globals.yes || context.terminal.canAsk;
    },
    say: context.terminal.say,
  });
  return { ...unattended, bank };
}

/** The bank for calls on a customer's behalf, while the customer is not there. */
export function openUnattendedBank(
  context: Context,
  opened: OpenProfile,
  transport: Transport,
  customerId: string,
): CustomerBank {
  const { grant } = transport;
  const holder = grant === 'client_credentials' ? null : customerId;
  const opening = openBankOver(context, opened, transport, opened.tokens.readLogin(holder)?.apiTrackId);
  const accessTokens = openSession({
    bank: opening.connect(),
    grantType: grant,
    client: opening.client,
    keeper: {
      read: () => opened.tokens.read(holder),
      write: (tokens) => opened.tokens.write(holder, tokens),
      reserve: () => opened.tokens.reserve(),
      locked: (work) => opened.tokens.locked(holder, work),
    },
    world: context.world,
  });
  return { ...opening, bank: opening.connect(accessTokens), accessTokens, customerId, holder };
}

/** A warning before the bank's daily limit, where the operator has set it. */
function warnNearLimit({ terminal, world }: Context, profile: Profile, counter: CallCounter): void {
  const limit = dailyLimitOf(profile);
  const calls = counter.callsOn(bankDay(world.now()));
  if (limit !== null && calls >= limit * 0.8) {
    terminal.warn(`${calls} of the ${limit} calls a day with client credentials are made.`);
  }
}

/** What is kept for the operator's information must not be in the way of a call; said once. */
function unlessItFails({ warn }: Context['terminal'], keep: () => void): () => void {
  let failed = false;
  return () => {
    try {
      keep();
    } catch (error) {
      if (!(error instanceof Psd2Error)) throw error;
      if (!failed) warn(error.message);
      failed = true;
    }
  };
}

/** With `--raw` the answers themselves are the command's output. */
function printIfRaw({ globals, printBytes }: Context): ((answer: Answer) => void) | undefined {
  return globals.raw ? ({ body }) => printBytes(body) : undefined;
}

/** The customer that was named, or who logged in last. @throws Psd2Error `not_logged_in` */
export function customerOf({ globals }: Context, { profile, tokens }: OpenProfile): string {
  if (globals.customer !== undefined) return parseCustomerId(globals.customer);
  const customerId = tokens.lastCustomer();
  if (customerId !== undefined) return customerId;
  throw new Psd2Error(
    'not_logged_in',
    `Nobody is logged in with the profile ${JSON.stringify(profile.name)}`,
    {
      hint: `Run psd2 --profile ${profile.name} auth login.`,
    },
  );
}

/** The application's name goes into the `Signature` header between quotes. @throws Psd2Error `config` */
export function applicationNameOf(profile: Profile, key: 'applicationName' | 'ccApplicationName'): string {
  const name = requireSetting(profile, key);
  if (/^[\x20-\x7e]+$/.test(name) && !/["\\]/.test(name)) return name;
  throw new Psd2Error('config', 'The application name holds a character that a signature can not carry', {
    hint: 'Give it as it is registered: printable ASCII without quotes and backslashes (PSD2_APP_NAME).',
  });
}

const CODE_KEYS = {
  clientId: 'clientId',
  clientSecret: 'clientSecret',
  applicationName: 'applicationName',
} as const;
const CC_KEYS = {
  clientId: 'ccClientId',
  clientSecret: 'ccClientSecret',
  applicationName: 'ccApplicationName',
} as const;

function keysOf(grant: GrantType) {
  return grant === 'client_credentials' ? CC_KEYS : CODE_KEYS;
}
