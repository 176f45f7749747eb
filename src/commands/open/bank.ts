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

/** What the calls of an application share, whoever the customer is. */
export interface Transport {
  grant: GrantType;
  connection: BankConnection;
  /** What all workers of the store keep together. */
  pace: Turns;
  /** What this process does of it. */
  ownPace: Pace;
  tally: CallTally;
  identity: Identity;
  /** The application's id and secret. @throws Psd2Error `config` when one is not set */
  client(): ClientCredentials;
  checkAnswer: ExchangeSettings['checkAnswer'];
  observe: ExchangeSettings['observe'];
}

/** The bank of a profile, as an application reaches it. */
export interface ApplicationBank {
  profile: Profile;
  baseUrl: URL;
  /** The bank's session id, once an answer has brought it. */
  session: { apiTrackId: string | undefined };
  /** Without tokens for the OAuth calls; with a source of tokens for the private ones. */
  connect(tokens?: TokenSource): Bank;
  client(): ClientCredentials;
  /** The request that a call would be sent as. */
  compose(call: BankCall): Promise<ComposedRequest>;
}

/** The bank as one customer's token opens it. */
export interface CustomerBank extends ApplicationBank, Pick<ProfileData, 'tokens' | 'flows'> {
  bank: Bank;
  accessTokens: TokenSource;
  customerId: string;
  /** Whose tokens the calls are made with: the customer's, or null for the application's own. */
  holder: Holder;
  /** How often accounts are read while the customer is not there. */
  reads: AccountReads;
}

/**
 * Opens the bank for calls on a customer's behalf, with the grant that the operator chose. Inquiries that need
 * SCA send the customer there.
 *
 * @throws Psd2Error `not_logged_in` when no customer is known, and what {@link openTransport} throws
 */
export async function openCustomerBank(context: Context): Promise<CustomerBank> {
  // Since Node.js 24 another thread then reads the authorities that Node trusts. The first connection waits for that, so
  // it is begun before all else.
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

/** Opens the bank for calls on a customer's behalf, while the customer is not there. */
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

/** @param apiTrackId the bank's session id of the calls before */
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

/** With `--raw` the answers themselves are the command's output. */
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

/**
 * Reads and checks the profile's certificates and keys; nothing is sent yet.
 *
 * @throws Psd2Error `config`, `certificate`
 */
export async function openTransport(context: ProfileContext, grant: GrantType): Promise<Transport> {
  const baseUrl = baseUrlOf(context.profile());
  // Of a protected profile it is in hand before the bank grants tokens, which have to be kept.
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
  // Not the time of day: a clock that is put back would hold up the next call as long. The same for all threads.
  const clock = () => {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1e3 + nanoseconds / 1e6;
  };
  return new Pace({ ...world, clock }, pace);
}
