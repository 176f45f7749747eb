import { answerCheck } from '../../bank/call/answer-check.ts';
import type { Identity } from '../../bank/call/compose.ts';
import { Pace, type PaceState } from '../../bank/call/pace.ts';
import type { ClientCredentials } from '../../bank/endpoints/oauth.ts';
import { type BankConnection, connectToBank } from '../../bank/transport/connection.ts';
import type { KeyPair } from '../../certificates/key-pair.ts';
import { bankDay } from '../../domain/calendar.ts';
import { Psd2Error } from '../../errors.ts';
import { keySigner } from '../../signature/http-signature.ts';
import { CallCounter } from '../../store/files/call-counter.ts';
import type { GrantType } from '../../store/files/tokens.ts';
import {
  applicationNameOf,
  DEFAULT_TPP_CERTIFICATE,
  dailyLimitOf,
  type Profile,
  readPem,
  requireSetting,
} from '../../store/machine/settings.ts';
import type { Context } from '../context.ts';
import { callLogger } from './call-logger.ts';
import { type KeyRing, openKeyRing } from './keys.ts';
import { type OpenProfile, openSecrets } from './profile.ts';

/** What the calls of all customers of a profile share. */
export interface Transport {
  grant: GrantType;
  connection: BankConnection;
  pace: Pace;
  identity: Identity;
  /** The application's id and secret. @throws Psd2Error `config` when one is not set */
  client(): ClientCredentials;
  checkAnswer: ReturnType<typeof answerCheck>;
  /** Counts a call with client credentials. */
  countCall(): void;
  log: ReturnType<typeof callLogger>;
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
 * Reads and checks a profile's certificates and keys; nothing is sent yet.
 *
 * @param given the profile's keys, where they are open already
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
  const { clientId, clientSecret, applicationName } = grant === 'client_credentials' ? CC_KEYS : CODE_KEYS;
  return {
    grant,
    connection,
    countCall: unlessItFails(context.terminal, () => counter.count(bankDay(world.now()))),
    pace: openPace(world),
    log: callLogger(context, profile.name, baseUrl.host),
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

/** @param state of the other threads that call the same bank */
export function openPace(world: Context['world'], state?: PaceState): Pace {
  // Not the time of day: a clock that is put back would hold up the next call as long. The same for all threads.
  const clock = () => {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1e3 + nanoseconds / 1e6;
  };
  return new Pace({ ...world, clock }, state);
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
