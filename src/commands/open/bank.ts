import { answerCheck } from '../../bank/call/answer-check.ts';
import { type Bank, openBank, type TokenSource } from '../../bank/call/bank.ts';
import {
  type ComposedRequest,
  type ComposeSettings,
  composeRequest,
  type Identity,
} from '../../bank/call/compose.ts';
import { type Answer, type BankCall, type ExchangeSettings, openExchange } from '../../bank/call/exchange.ts';
import { Pace } from '../../bank/call/pace.ts';
import type { ClientCredentials } from '../../bank/endpoints/oauth.ts';
import { type BankConnection, connectToBank } from '../../bank/transport/connection.ts';
import { withScaForInquiries } from '../../flows/inquiry.ts';
import { openSession } from '../../flows/session.ts';
import {
  applicationNameOf,
  baseUrlOf,
  DEFAULT_TPP_CERTIFICATE,
  type Profile,
  readPem,
  requireSetting,
} from '../../store/machine/settings.ts';
import type { Turns } from '../../store/ports/calls.ts';
import type { ProfileData } from '../../store/ports/store.ts';
import type { GrantType, Holder } from '../../store/ports/tokens.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context, ProfileContext } from '../context.ts';
import { customerPortsOf } from '../flow/customer-ports.ts';
import { notingCalls, notingRefreshes } from './access-notes.ts';
import { type AccountReads, countingReads } from './account-reads.ts';
import { callRecorder } from './call-records.ts';
import { CallTally } from './call-tally.ts';
import { openSigner } from './keys.ts';
import { namingSandbox } from './sandbox-down.ts';
import { customerOf, notLoggedIn } from './store.ts';

/** What all calls of an application share, for any customer. */
export interface Transport {
  grant: GrantType;
  connection: BankConnection;
  /** The pace that all workers of the store share. */
  pace: Turns;
  /** The pace of this process. */
  ownPace: Pace;
  tally: CallTally;
  identity: Identity;
  /** The application's id and secret. @throws Psd2Error `config` if one is not set */
  client(): ClientCredentials;
  checkAnswer: ExchangeSettings['checkAnswer'];
  observe: ExchangeSettings['observe'];
}

/** The bank of a profile, for the calls of an application. */
export interface ApplicationBank {
  profile: Profile;
  baseUrl: URL;
  /** The bank's session id, once an answer has contained one. */
  session: { apiTrackId: string | undefined };
  /** OAuth calls need no tokens. Private calls need a source of tokens. */
  connect(tokens?: TokenSource): Bank;
  client(): ClientCredentials;
  /** The request that psd2 would send for a call. */
  compose(call: BankCall): Promise<ComposedRequest>;
}

/** The bank of a profile, for calls about one customer. */
export interface CustomerBank extends ApplicationBank, Pick<ProfileData, 'tokens' | 'flows'> {
  bank: Bank;
  accessTokens: TokenSource;
  customerId: string;
  /** The owner of the tokens that the calls use: the customer, or null for the application. */
  holder: Holder;
  /** Counts the reads of accounts while the customer is absent. */
  reads: AccountReads;
}

/**
 * Opens the bank for calls on a customer's behalf, with the grant that the operator chose. If an inquiry needs SCA, psd2
 * sends the customer to the bank.
 *
 * @throws Psd2Error `not_logged_in` if no customer is known, and what {@link openTransport} throws
 */
export async function openCustomerBank(context: Context): Promise<CustomerBank> {
  // From Node.js 24 on, this starts a thread that reads the authorities that Node trusts. The first connection waits for
  // that thread, so start it first.
  process.getBuiltinModule('node:tls');
  const { globals, terminal, world } = context;
  const customerId = await customerOf(context);
  await context.transport();
  const { tokens } = await context.store();
  if (globals.grant !== 'client_credentials' && !(await tokens.login(customerId)))
    throw await notLoggedIn(context, customerId);
  const unattended = await context.unattendedBank();
  const bank = withScaForInquiries(unattended.bank, {
    customer: customerPortsOf(context, unattended.profile),
    world,
    get maySendCustomer() {
      return globals.yes || terminal.canAsk;
    },
    say: terminal.say,
  });
  return { ...unattended, bank };
}

/** Opens the bank for calls on a customer's behalf, while the customer is absent. */
export async function openUnattendedBank(context: Context): Promise<CustomerBank> {
  const customerId = await customerOf(context);
  const transport = await context.transport();
  const { tokens, flows } = await context.store();
  const { grant } = transport;
  const holder = grant === 'client_credentials' ? null : customerId;
  const login = await tokens.login(holder);
  const application = openApplicationBank(context, transport, login?.apiTrackId);
  const session = openSession({
    bank: application.connect(),
    grantType: grant,
    holder,
    client: application.client,
    keeper: {
      whose: holder === null ? 'The login of the application' : `The login of customer ${holder}`,
      read: () => tokens.read(holder),
      ready: () => tokens.ready(),
      change: (work) => tokens.change(holder, (slot) => work(transport.tally.countingRenewals(slot))),
    },
    world: context.world,
  });
  const accessTokens = notingRefreshes(session, context, holder, () => tokens.login(holder));
  const reads = await context.reads();
  const noting = notingCalls(application.connect(accessTokens), context, holder);
  const bank = countingReads(noting, reads, customerId);
  return { ...application, tokens, flows, bank, accessTokens, customerId, holder, reads };
}

/** @param apiTrackId the bank's session id from earlier calls */
export function openApplicationBank(
  context: ProfileContext,
  transport: Transport,
  apiTrackId?: string,
): ApplicationBank {
  const { globals, terminal, world } = context;
  const profile = context.profile();
  const baseUrl = baseUrlOf(profile);
  const session = { apiTrackId };
  const composing: ComposeSettings = {
    pathPrefix: baseUrl.pathname === '/' ? '' : baseUrl.pathname,
    identity: transport.identity,
    psuIpAddress: globals.psuIpAddress,
    language: globals.language,
    traceComponent: globals.traceComponent,
    session,
    ...world,
  };
  const calls = openExchange({ ...composing, ...world, ...transport, timeoutMs: globals.timeoutMs });
  const exchange = namingSandbox(context, profile, calls);
  const notice = (message: { text: string; code: string | null }) => {
    terminal.warn(cleanText(`The bank says: ${message.text}${message.code ? ` [${message.code}]` : ''}`));
  };
  return {
    profile,
    baseUrl,
    session,
    compose: (call) => composeRequest(call, composing),
    connect: (tokens) => openBank(exchange, notice, tokens, tokens && printIfRaw(context)),
    client: transport.client,
  };
}

/** With `--raw`, the command's output is the bank's answers. */
function printIfRaw({ globals, printBytes }: ProfileContext): ((answer: Answer) => void) | undefined {
  return globals.raw ? ({ body }) => printBytes(body) : undefined;
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
  const observe = await callRecorder(context, grant, baseUrl.host);
  const ownPace = openPace(context);
  const tally = new CallTally(context.tally);
  const { turns } = await context.store();
  const connection = connectToBank(baseUrl, qwac, readPem(profile, 'ca'));
  context.onEnd(() => connection.close());
  const { clientId, clientSecret, applicationName } = grant === 'client_credentials' ? CC_KEYS : CODE_KEYS;
  return {
    grant,
    connection,
    observe,
    pace: tally.timing(turns(ownPace), () => performance.now()),
    ownPace,
    tally,
    checkAnswer: answerCheck(readPem(profile, 'bankSigningCertificate')),
    identity: {
      applicationName: applicationNameOf(profile, applicationName),
      ...signing,
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
