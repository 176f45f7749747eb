import { type KnownInterface, openExchange, type WireSettings } from '../../bank/call/call.ts';
import { Pace } from '../../bank/call/pace.ts';
import type { Bank, Identity } from '../../bank/ports/bank.ts';
import type { Observation } from '../../bank/ports/call.ts';
import { connectToBank } from '../../bank/transport/connection.ts';
import { DEFAULT_TPP_CERTIFICATE } from '../../store/machine/setting-table.ts';
import {
  applicationNameOf,
  baseUrlOf,
  type Profile,
  readPem,
  requireSetting,
} from '../../store/machine/settings.ts';
import type { GrantType } from '../../store/ports/tokens.ts';
import type { ApplicationBank, Context, CustomerBank, ProfileContext, Transport } from '../context.ts';
import { CallTally, callRecorder } from './call-records.ts';
import { countingByConsent } from './consent-reads.ts';
import { customerOf, notLoggedIn, openCustomer } from './customer.ts';
import { openSigner } from './keys.ts';
import { type CalledCustomer, wrap } from './layers.ts';
import { tellOddities } from './oddities.ts';
import { type Carried, openSessions } from './sessions.ts';

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

async function openBankFor(
  context: Context,
  customerId: string,
  find: FindInterface,
  isPresent: boolean,
): Promise<CustomerBank> {
  const transport = await context.transport(await grantOf(context));
  const customer = await openCustomer(context, customerId, transport.grant);
  const { holder, login, kept: identified } = customer;
  const application = await openApplicationBank(context, transport, find, {
    apiTrackId: login?.apiTrackId,
    ...(identified && { ...identified, customer: customerId }),
  });
  const carried = await openSessions(context, application, transport, customer);
  const counted = await context.reads();
  const reads = identified ? countingByConsent(counted, identified.consents) : counted;
  const { tokens, flows, customers } = await context.store();
  // With --raw, nothing but the answer that was asked for is printed.
  const ends =
    identified && !context.globals.raw
      ? {
          flows,
          customers,
          tokens,
          customerId,
          consents: identified.consents,
          bank: () => application.connectFor(carried),
        }
      : null;
  const bank = application.connectFor(carried, { context, customerId, holder, reads, ends, isPresent });
  tellOddities(context, bank);
  return { ...application, tokens, flows, bank, accessTokens: carried.ofHolder, customerId, holder, reads };
}

/** The bank of an application, which can also be called for a customer. */
interface CallableBank extends ApplicationBank {
  connectFor(carried: Carried, customer?: CalledCustomer): Bank;
}

/** What the calls for one customer have besides. */
interface OfCustomer extends Partial<Pick<WireSettings, 'psu' | 'consents'>> {
  /** The bank's session id from earlier calls. */
  apiTrackId?: string | undefined;
  /** The operator's name for the customer, for the log. */
  customer?: string;
}

/**
 * Opens the bank for calls of the application, and for calls that are wrapped for a customer.
 *
 * @throws Psd2Error `config` if the bank's certificate cannot be read, and what the interface throws
 */
export async function openApplicationBank(
  context: ProfileContext,
  transport: Transport,
  find: FindInterface,
  { apiTrackId, customer: loggedAs, psu, consents }: OfCustomer = {},
): Promise<CallableBank> {
  const { connection, pace } = transport;
  const profile = context.profile();
  const session = { apiTrackId };
  const bank = await find(() => profile);
  const opened = bank.open({ ...transport.requests(), psu, consents, session });
  const named = (call: Observation) => (loggedAs === undefined ? call : { ...call, customer: loggedAs });
  const observe: Transport['observe'] = (call) => transport.observe(named(call));
  const unusable: Transport['unusable'] = (call) => transport.unusable(named(call));
  const timing = { timeoutMs: context.globals.timeoutMs, ...context.world };
  const connectFor: CallableBank['connectFor'] = (carried, customer) =>
    opened.connect((wire, bankOver) => {
      const exchange = openExchange({ connection, wire, session, pace, observe, unusable, ...timing });
      const { logsIn } = bank;
      return wrap(exchange, { context, logsIn, carried, ...(customer && { customer }) }, bankOver);
    });
  return {
    profile,
    baseUrl: transport.baseUrl,
    session,
    compose: opened.compose,
    connect: (tokens) => connectFor(tokens ? { ofHolder: tokens } : {}),
    connectFor,
    client: () => transport.client(opened.client()),
  };
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
  const { globals, world } = context;
  const keys = await context.keys();
  const qwac = await keys.pair('QWAC');
  const signing = await openSigner(context, profile, keys, qwac);
  const record = await callRecorder(context, grant, baseUrl.host);
  const ownPace = openPace(context);
  const tally = new CallTally(context.tally);
  const observe: Transport['observe'] = (call) => {
    tally.count(call.outcome);
    return record.call(call);
  };
  const { turns } = await context.store();
  const connection = connectToBank(baseUrl, qwac, readPem(profile, 'ca'));
  context.onEnd(() => connection.close());
  const { clientId, clientSecret, applicationName } = grant === 'client_credentials' ? CC_KEYS : CODE_KEYS;
  const setting = (name: Parameters<typeof requireSetting>[1]) => requireSetting(profile, name);
  const identity: Identity = {
    get applicationName() {
      return applicationNameOf(profile, applicationName);
    },
    ...signing,
    qwacCertificate: qwac.certificate,
    tppCertificate: profile.settings.tppCertificate ?? DEFAULT_TPP_CERTIFICATE,
  };
  return {
    grant,
    connection,
    observe,
    unusable: record.unusable,
    pace: tally.timing(turns(ownPace)),
    ownPace,
    tally,
    baseUrl,
    requests: () => ({
      pathPrefix: baseUrl.pathname === '/' ? '' : baseUrl.pathname,
      origin: baseUrl.origin,
      identity,
      bankSigningCertificate: readPem(profile, 'bankSigningCertificate'),
      psuIpAddress: globals.psuIpAddress,
      language: globals.language,
      traceComponent: globals.traceComponent,
      ownAddress: async () =>
        (await import('../../bank/transport/own-address.ts')).ownAddressTowards(baseUrl),
      ...world,
    }),
    client: (registered) =>
      registered
        ? {
            clientId: registered.clientId,
            clientSecret: registered.needsSecret ? setting('clientSecret') : '',
          }
        : { clientId: setting(clientId), clientSecret: setting(clientSecret) },
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
