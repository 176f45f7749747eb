import type {
  Answer,
  BankCall,
  Caller,
  Exchange,
  KnownInterface,
  Notice,
  OpenInterface,
  Said,
  WireSettings,
  Wrapper,
} from '../../bank/call/call.ts';
import { openCaller, openExchange, withTokens } from '../../bank/call/call.ts';
import { Pace } from '../../bank/call/pace.ts';
import type { Bank, BankInterface, Oddities } from '../../bank/ports/bank.ts';
import type { TokenSource } from '../../bank/ports/call.ts';
import type { ClientCredentials } from '../../bank/ports/customer.ts';
import { connectToBank } from '../../bank/transport/connection.ts';
import { Psd2Error } from '../../errors.ts';
import { type InquiryPorts, withSca } from '../../flows/sca.ts';
import { openSession } from '../../flows/session.ts';
import { DEFAULT_TPP_CERTIFICATE } from '../../store/machine/setting-table.ts';
import {
  applicationNameOf,
  baseUrlOf,
  type Profile,
  readPem,
  requireSetting,
} from '../../store/machine/settings.ts';
import type { GrantType, Holder, Tokens } from '../../store/ports/tokens.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { ApplicationBank, Context, CustomerBank, ProfileContext, Transport } from '../context.ts';
import { customerPortsOf } from '../flow/ports.ts';
import { isFirst } from '../shared/once.ts';
import { CallTally, callRecorder, countingReads, notingCalls, notingRefreshes } from './call-records.ts';
import { countingByConsent } from './consent-reads.ts';
import { noticingEnds } from './ended-consent.ts';
import { readKept } from './kept-customer.ts';
import { openSigner } from './keys.ts';
import { namingSandbox } from './naming-sandbox.ts';
import { describeElsewhere, describeLogins } from './other-logins.ts';
import { type ResourceTokens, resourceTokensOf } from './payment-tokens.ts';

/** Finds the interface of a profile's bank. It opens the profile only if it needs to. */
export type FindInterface = (profile: () => Profile) => Promise<KnownInterface>;

/**
 * Opens the bank for calls on a customer's behalf, with the grant that the operator chose. If an inquiry needs SCA, psd2
 * sends the customer to the bank.
 *
 * @throws Psd2Error `not_logged_in` if no customer is known, and what {@link openTransport} throws
 */
export async function openCustomerBank(context: Context, find: FindInterface): Promise<CustomerBank> {
  // From Node.js 24 on, this starts a thread that reads the authorities that Node trusts. The first connection waits for
  // that thread, so start it first.
  process.getBuiltinModule('node:tls');
  const customerId = await customerOf(context);
  const grant = await grantOf(context);
  await context.transport(grant);
  const { logsIn } = await context.bankInterface();
  const { tokens } = await context.store();
  if (logsIn === 'customers' && grant !== 'client_credentials' && !(await tokens.login(customerId)))
    throw await notLoggedIn(context, customerId);
  return openBankFor(context, customerId, find, true);
}

/** Opens the bank for calls on a customer's behalf, while the customer is absent. */
export async function openUnattendedBank(context: Context, find: FindInterface): Promise<CustomerBank> {
  return openBankFor(context, await customerOf(context), find, false);
}

/** The grant whose tokens the calls carry: the operator's choice, unless the bank leaves none. */
export async function grantOf({ globals, bankInterface }: ProfileContext): Promise<GrantType> {
  return (await bankInterface()).logsIn === 'application' ? 'client_credentials' : globals.grant;
}

/** Whether a call carries a token. A bank where customers log in with a consent wants none before. */
function carriesToken({ facts }: BankCall, logsIn: BankInterface['logsIn']): boolean {
  if (logsIn === 'with a consent') return facts.needsConsent;
  return logsIn === 'customers' || (logsIn === 'application' && !facts.login);
}

async function openBankFor(
  context: Context,
  customerId: string,
  find: FindInterface,
  isPresent: boolean,
): Promise<CustomerBank> {
  const transport = await context.transport(await grantOf(context));
  const { tokens, flows, customers } = await context.store();
  const { grant } = transport;
  const holder = grant === 'client_credentials' ? null : customerId;
  const login = await tokens.login(holder);
  const { customers: named, logsIn, hasApplicationToken = false } = await context.bankInterface();
  const kept = named === 'named by the operator' ? await readKept(context, customers, customerId) : undefined;
  const application = await openApplicationBank(context, transport, find, {
    apiTrackId: login?.apiTrackId,
    ...(kept && { ...kept, customer: customerId }),
  });
  const sessionOf = sessionsAt(application, transport, tokens, context.world);
  const session = sessionOf(
    holder,
    holder === null ? 'The login of the application' : `The login of customer ${holder}`,
  );
  const noting = notingRefreshes(session, context, holder, () => tokens.login(holder));
  const accessTokens = logsIn === 'with a consent' ? askingForConsent(noting, customerId) : noting;
  const counted = await context.reads();
  const reads = kept ? countingByConsent(counted, kept.consents) : counted;
  const ofApplication = hasApplicationToken
    ? sessionOf(null, 'The token of the application', true)
    : undefined;
  const ofResources: ResourceTokens = ofApplication
    ? async ({ facts }) => (facts.login || facts.needsConsent ? undefined : ofApplication)
    : resourceTokensOf(
        tokens,
        (owner) => sessionOf(owner, 'The login of a payment'),
        async (consentId) =>
          logsIn === 'with a consent' && (await tokens.read(holder))?.consent === consentId
            ? accessTokens
            : undefined,
      );
  const askAgain = () => application.connectWith(accessTokens, { ofResources });
  // With --raw, nothing but the answer that was asked for is printed.
  const ends =
    kept && !context.globals.raw
      ? { flows, customers, tokens, customerId, consents: kept.consents, bank: askAgain }
      : null;
  const bank = application.connectWith(accessTokens, {
    own: (calls) => {
      const noting = notingCalls(calls, context, holder);
      return countingReads(noticingEnds(noting, ends), reads, customerId);
    },
    ...(isPresent && {
      around: (plain) => scaForInquiries(inquiryPorts(context, application.profile, plain)),
    }),
    ofResources,
  });
  tellOddities(context, bank);
  return { ...application, tokens, flows, bank, accessTokens, customerId, holder, reads };
}

/** Opens the session of any holder of tokens at a bank. @returns its `whose` names the holder in errors */
function sessionsAt(
  application: WrappableBank,
  { grant, tally }: Transport,
  tokens: Tokens,
  world: Context['world'],
): (owner: Holder, whose: string, begins?: boolean) => TokenSource {
  return (owner, whose, begins = false) =>
    openSession({
      login: application.connect().login,
      grantType:
        owner === null && !begins ? grant : owner === null ? 'client_credentials' : 'authorization_code',
      begins,
      holder: owner,
      client: application.client,
      keeper: {
        whose,
        read: () => tokens.read(owner),
        ready: () => tokens.ready(),
        change: (work) => tokens.change(owner, (slot) => work(tally.countingRenewals(slot))),
      },
      world,
    });
}

/** Says at the end which links psd2 did not follow; with --verbose, also what else was odd in the bank's answers. */
function tellOddities({ globals, terminal, atLast }: Context, { oddities }: Bank): void {
  if (!oddities) return;
  atLast(() => {
    const sentences = [...foreignLinks(oddities), ...(globals.verbose ? odditiesOf(oddities) : [])];
    for (const each of sentences) terminal.say(each);
  });
}

/** A sentence for each link that was about something else. */
export function foreignLinks({ foreign }: Pick<Oddities, 'foreign'>): string[] {
  return [...foreign].map(
    ([name, href]) =>
      `The bank's link ${name} is not for what it was sent with, so psd2 used only its own address: ${href}`,
  );
}

/** What was odd in the bank's answers, and did no harm: a sentence for each kind. */
function odditiesOf({ unread, rewritten }: Oddities): string[] {
  const fields = [...unread].map(([field, count]) => `${field} (${count})`);
  return [
    ...(fields.length > 0 ? [`psd2 could not read these fields of transactions: ${fields.join(', ')}`] : []),
    ...(rewritten.size > 0
      ? [
          `The bank's links lead elsewhere: ${[...rewritten].join(', ')}. psd2 called the same at the base URL`,
        ]
      : []),
  ];
}

/** Where the customer logs in with a consent, only another consent gives new tokens. */
function askingForConsent(tokens: TokenSource, customerId: string): TokenSource {
  const advised = (error: unknown) => {
    const isLogin = error instanceof Psd2Error && error.next?.some(([noun]) => noun === 'auth');
    throw isLogin ? error.with({ next: [['consent', 'request', '--customer', customerId]] }) : error;
  };
  return {
    current: () => tokens.current().catch(advised),
    renewed: (refused) => tokens.renewed(refused).catch(advised),
  };
}

function inquiryPorts(context: Context, profile: Profile, bank: Bank): InquiryPorts {
  const { globals, terminal, world } = context;
  return {
    bank,
    customer: customerPortsOf(context, profile),
    world,
    get maySendCustomer() {
      return globals.yes || terminal.canAsk;
    },
    say: terminal.say,
  };
}

/** A bank whose calls can be wrapped further. */
interface WrappableBank extends ApplicationBank {
  connectWith(
    tokens: TokenSource | undefined,
    wrappers: { own?: Wrapper; around?: (bank: Bank) => Wrapper; ofResources?: ResourceTokens },
  ): Bank;
}

/** What the calls for one customer have besides. */
interface OfCustomer extends Partial<Pick<WireSettings, 'psu' | 'consents'>> {
  /** The bank's session id from earlier calls. */
  apiTrackId?: string | undefined;
  /** The operator's name for the customer, for the log. */
  customer?: string;
}

export async function openApplicationBank(
  context: ProfileContext,
  transport: Transport,
  find: FindInterface,
  { apiTrackId, customer, psu, consents }: OfCustomer = {},
): Promise<WrappableBank> {
  const { globals, world } = context;
  const profile = context.profile();
  const baseUrl = baseUrlOf(profile);
  const session = { apiTrackId };
  const bank = await find(() => profile);
  const opened = bank.open({
    pathPrefix: baseUrl.pathname === '/' ? '' : baseUrl.pathname,
    origin: baseUrl.origin,
    identity: transport.identity,
    bankSigningCertificate: readPem(profile, 'bankSigningCertificate'),
    psuIpAddress: globals.psuIpAddress,
    language: globals.language,
    traceComponent: globals.traceComponent,
    psu,
    consents,
    ownAddress: async () => (await import('../../bank/transport/own-address.ts')).ownAddressTowards(baseUrl),
    session,
    ...world,
  });
  const connectWith: WrappableBank['connectWith'] = (tokens, { own, around, ofResources }) =>
    opened.connect((wire) => {
      const { connection, pace } = transport;
      const observe: typeof transport.observe = (call) =>
        transport.observe(customer === undefined ? call : { ...call, customer });
      const timing = { timeoutMs: globals.timeoutMs, ...world };
      const exchange = openExchange({ connection, wire, session, pace, observe, ...timing });
      const isPrivate = (call: BankCall) => carriesToken(call, bank.logsIn);
      return wrap(exchange, context, { tokens, isPrivate, ofResources }, own);
    }, around);
  return {
    profile,
    baseUrl,
    session,
    compose: opened.compose,
    connect: (tokens) => connectWith(tokens, {}),
    connectWith,
    client: () => clientOf(profile, opened) ?? transport.client(),
  };
}

/** The tokens that calls carry. */
interface Carried {
  tokens: TokenSource | undefined;
  isPrivate: (call: BankCall) => boolean;
  ofResources: ResourceTokens | undefined;
}

/**
 * How a call is wrapped, from the wire to the command. Each wrapper sees the calls of those below it, and what it adds:
 *
 * 1. `exchange`: signs each attempt, sends it in its turn, checks and parses the answer, logs it, retries
 * 2. `namingSandbox`: says that the sandbox is down, instead of that the bank cannot be reached
 * 3. `withTokens`: adds the access token to the calls that carry one, and renews it if the bank refuses it
 * 4. `openCaller`: reads the answer, prints it with `--raw`, shows the bank's notices
 * 5. `notingCalls`: remembers that the bank does not allow a call, for `doctor` and `auth status`
 * 6. `countingReads`: takes a read of the day before a call, because PSD2 limits them while the customer is absent
 * 7. `scaForInquiries`: sends the customer to SCA if the bank asks for it, and makes the call again
 *
 * Calls without a customer have the first four only, and `--raw` prints only calls with tokens.
 */
function wrap<What extends Said>(
  exchange: Exchange<What>,
  context: ProfileContext,
  { tokens, isPrivate, ofResources }: Carried,
  own: Wrapper = (calls) => calls,
): Caller<What> {
  const { globals, printBytes, terminal } = context;
  const named = namingSandbox(context, context.profile(), exchange);
  const withToken = tokens && withTokens(named, tokens);
  const authenticated: Exchange<What> = async (call) => {
    const ofResource = await ofResources?.(call);
    if (ofResource) return withTokens(named, ofResource)(call);
    return withToken && isPrivate(call) ? withToken(call) : named(call);
  };
  const print = onLinesOfTheirOwn(printBytes);
  const notice = ({ text, code }: Notice) => {
    if (isFirst(terminal, text))
      terminal.warn(cleanText(`The bank says: ${text}${code ? ` [${code}]` : ''}`));
  };
  const onAnswer = (answer: Answer<What>) => {
    const { call, route, status, headers, said, body } = answer;
    context.calls?.answered?.({
      ...{ method: call.method, route, status, contentType: headers['content-type'], json: said.json },
    });
    if (globals.raw) print(body);
  };
  return own(openCaller(authenticated, notice, tokens && onAnswer));
}

/** Puts a line break between one answer and the next, so that a reader finds each. */
function onLinesOfTheirOwn(printBytes: (bytes: Uint8Array) => void): (body: Buffer) => void {
  let needsBreak = false;
  return (body) => {
    printBytes(needsBreak ? Buffer.concat([Buffer.from('\n'), body]) : body);
    if (body.length > 0) needsBreak = body.at(-1) !== 0x0a;
  };
}

/** The OAuth client that the bank knows the application as. Undefined: the one in the profile. @throws Psd2Error `config` */
function clientOf(profile: Profile, opened: OpenInterface): ClientCredentials | undefined {
  const client = opened.client();
  if (!client) return undefined;
  const clientSecret = client.needsSecret ? requireSetting(profile, 'clientSecret') : '';
  return { clientId: client.clientId, clientSecret };
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

/** Reads and checks the profile's certificates and keys. Sends nothing. @throws Psd2Error `config`, `certificate` */
export async function openTransport(context: ProfileContext, grant: GrantType): Promise<Transport> {
  const baseUrl = baseUrlOf(context.profile());
  // psd2 needs the key of a protected profile before the bank grants tokens, because it must store them.
  await context.profiles.vault(context.profile().name).key();
  const profile = await context.unsealed();
  const keys = await context.keys();
  const qwac = await keys.pair('QWAC');
  const signing = await openSigner(context, profile, keys, qwac);
  const record = await callRecorder(context, grant, baseUrl.host);
  const ownPace = openPace(context);
  const tally = new CallTally(context.tally);
  const observe: typeof record = (call) => {
    tally.count(call.outcome);
    return record(call);
  };
  const { turns } = await context.store();
  const connection = connectToBank(baseUrl, qwac, readPem(profile, 'ca'));
  context.onEnd(() => connection.close());
  const { clientId, clientSecret, applicationName } = grant === 'client_credentials' ? CC_KEYS : CODE_KEYS;
  return {
    grant,
    connection,
    observe,
    pace: tally.timing(turns(ownPace)),
    ownPace,
    tally,
    identity: {
      get applicationName() {
        return applicationNameOf(profile, applicationName);
      },
      ...signing,
      qwacCertificate: qwac.certificate,
      tppCertificate: profile.settings.tppCertificate ?? DEFAULT_TPP_CERTIFICATE,
    },
    client: () => ({
      clientId: requireSetting(profile, clientId),
      clientSecret: requireSetting(profile, clientSecret),
    }),
  };
}

function openPace({ world, pace }: ProfileContext): Pace {
  // Not the time of day: if that clock is set back, the next call would wait that long. All threads share this clock.
  const clock = () => {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1e3 + nanoseconds / 1e6;
  };
  return new Pace({ ...world, clock }, pace);
}

/** The customer at a bank without ids of customers, if the operator names none. */
export const DEFAULT_CUSTOMER = 'default';

/** The named customer, or the one who logged in last. @throws Psd2Error `not_logged_in` */
export async function customerOf(context: Context): Promise<string> {
  const { globals } = context;
  const { tokens } = await context.store();
  if (globals.customer !== undefined) return (await context.bankInterface()).readCustomerId(globals.customer);
  const customerId = await tokens.last();
  if (customerId !== undefined) return customerId;
  if ((await context.bankInterface()).customers === 'named by the operator') return DEFAULT_CUSTOMER;
  if (globals.grant === 'client_credentials' && (await tokens.login(null)))
    throw new Psd2Error('not_logged_in', 'No customer has logged in yet', {
      hint: 'Name one with --customer <id>.',
    });
  throw await notLoggedIn(context, undefined);
}

/**
 * The error that there is no login. It names who is logged in.
 *
 * @param holder the customer whose login was wanted; null for the application's own, undefined for anybody's
 */
export async function notLoggedIn(context: ProfileContext, holder: Holder | undefined): Promise<Psd2Error> {
  const { name } = context.profile();
  const store = await context.store();
  const isWithConsent = holder !== null && (await context.bankInterface()).logsIn === 'with a consent';
  const verb = isWithConsent ? ['consent', 'request'] : ['auth', 'login'];
  const login = ['--profile', name, ...verb, ...(holder === null ? ['--client-credentials'] : [])];
  const others = holder === null ? undefined : await describeLogins(store);
  const elsewhere = others === undefined ? await describeElsewhere(store) : undefined;
  const hint =
    others !== undefined
      ? `${others}. ${holder === undefined ? 'Name one with --customer, or run:' : 'Or run:'}`
      : elsewhere &&
        `${elsewhere}. Set that base URL again, take the logins along if the same bank has a new address (psd2 auth move), or log in at this one:`;
  const message = `${whoIsMissing(holder, others)} with the profile ${JSON.stringify(name)}`;
  return new Psd2Error('not_logged_in', message, { ...(hint !== undefined && { hint }), next: [login] });
}

function whoIsMissing(holder: Holder | undefined, others: string | undefined): string {
  if (others === undefined) return 'Nobody is logged in';
  // Others have logged in, but psd2 customer forget leaves no last one.
  return holder === undefined
    ? 'psd2 has forgotten who logged in last'
    : `The customer ${holder} is not logged in`;
}

/** Sends the customer to SCA if the bank asks for it, and makes the call again. A PUT is not repeated: its SCA is done. */
export function scaForInquiries(ports: InquiryPorts): Wrapper {
  return (bank) => ({
    send: bank.send,
    ask: (call, read) =>
      call.method === 'PUT'
        ? bank.ask(call, read)
        : withSca(() => bank.ask(call, read), call.transactionId, ports),
  });
}
