import { type Bank, openBank, type TokenSource } from '../../bank/call/bank.ts';
import { type ComposedRequest, type ComposeSettings, composeRequest } from '../../bank/call/compose.ts';
import { type Answer, type BankCall, openExchange } from '../../bank/call/exchange.ts';
import type { ClientCredentials } from '../../bank/endpoints/oauth.ts';
import { withScaForInquiries } from '../../flows/inquiry.ts';
import { openSession } from '../../flows/session.ts';
import type { GrantType } from '../../store/files/tokens.ts';
import { cleanText } from '../../terminal/clean.ts';
import type { Context } from '../context.ts';
import { customerPortsOf } from '../flow/customer-ports.ts';
import type { KeyRing } from './keys.ts';
import { customerOf, notLoggedIn, type OpenProfile, openProfileOf } from './profile.ts';
import { openTransport, type Transport } from './transport.ts';

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
  { grant, connection, pace, identity, client, checkAnswer, countCall, log }: Transport,
  apiTrackId?: string,
): OpenBank {
  const { globals, terminal, world } = context;
  const { baseUrl } = opened;
  const session = { apiTrackId };
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
    client,
  };
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
  const { globals, world } = context;
  const opened = openProfileOf(context);
  const customerId = customerOf(context, opened);
  const transport = await openTransport(context, opened, globals.grant);
  if (globals.grant !== 'client_credentials' && !opened.tokens.readLogin(customerId))
    throw notLoggedIn(opened, customerId);
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
      whose: holder === null ? 'The login of the application' : `The login of customer ${holder}`,
      read: () => opened.tokens.read(holder),
      replace: (spent, tokens) => opened.tokens.replace(holder, spent, tokens),
      refuse: (tokens) => opened.tokens.refuse(holder, tokens),
      isNewest: (tokens) => opened.tokens.isNewest(holder, tokens),
      reserve: () => opened.tokens.reserve(),
      locked: (work) => opened.tokens.locked(holder, work),
    },
    world: context.world,
  });
  return { ...opening, bank: opening.connect(accessTokens), accessTokens, customerId, holder };
}

/** With `--raw` the answers themselves are the command's output. */
function printIfRaw({ globals, printBytes }: Context): ((answer: Answer) => void) | undefined {
  return globals.raw ? ({ body }) => printBytes(body) : undefined;
}
