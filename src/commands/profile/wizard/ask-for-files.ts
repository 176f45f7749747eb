import { adviceOf } from '../../../advice.ts';
import { readCertificateFile } from '../../../certificates/certificate-file.ts';
import { isPkcs12, type PairName } from '../../../certificates/key-pair.ts';
import { Psd2Error } from '../../../errors.ts';
import type { PemSource } from '../../../store/machine/profiles.ts';
import { readSource } from '../../../store/machine/settings.ts';
import { pathOf } from '../../../terminal/complete-path.ts';
import { checkProfileCertificates } from '../../cert/profile-certificates.ts';
import { type KeyRing, PAIR_SETTINGS } from '../../open/keys.ts';
import { showChecks } from './try-connection.ts';
import type { Wizard } from './wizard.ts';

/** Asks for a certificate and its key until they pass the checks or the operator accepts them anyway. */
export async function askForPair(wizard: Wizard, keys: KeyRing, pair: PairName): Promise<void> {
  const { context, settings, today } = wizard;
  const { terminal } = context;
  const setting = PAIR_SETTINGS[pair];
  const kept = today[setting.certificate] !== undefined;
  if (kept && (await terminal.confirm(`Keep the ${pair} certificate and its key?`, true))) {
    if (await isAccepted(wizard, keys, pair, async () => {})) return;
  }
  for (;;) {
    if (pair === 'QSealC') delete settings.signer;
    delete settings[setting.key];
    await askForCertificate(wizard, pair);
    if (await isAccepted(wizard, keys, pair, () => askForKey(wizard, keys, pair))) return;
  }
}

/** Whether a pair passes the checks or the operator accepts it anyway. @param complete runs before the checks */
async function isAccepted(
  { context, settings }: Wizard,
  keys: KeyRing,
  pair: PairName,
  complete: () => Promise<void>,
): Promise<boolean> {
  const { terminal, world } = context;
  const setting = PAIR_SETTINGS[pair];
  try {
    await complete();
    const only = {
      ...(pair === 'QSealC' && { signer: settings.signer }),
      [setting.certificate]: settings[setting.certificate],
      [setting.key]: settings[setting.key],
    };
    const limits = { now: world.now(), days: 30, soon: 'warn' } as const;
    const checks = await checkProfileCertificates(context, { name: '', settings: only }, limits, keys);
    return showChecks(context, checks) || (await terminal.confirm('Use it anyway?'));
  } catch (error) {
    if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
    terminal.warn([error.message, adviceOf(error)].filter(Boolean).join('. '));
    return false;
  }
}

async function askForCertificate(
  { context, settings, offered, keep }: Wizard,
  pair: PairName,
): Promise<void> {
  const { certificate } = PAIR_SETTINGS[pair];
  const path = await context.terminal.askPath(`${pair} certificate: a PEM or PKCS#12 file`, {
    initial: pathIn(offered[certificate]),
    check: async (text) => {
      const bytes = readSource({ path: pathOf(text) }, certificate);
      if (!isPkcs12(bytes)) await readCertificateFile(bytes, undefined, text);
    },
  });
  settings[certificate] = keep(pathOf(path), certificate);
}

/** Finds or asks for the key of a certificate: in the same file, in another file, or behind a command. */
async function askForKey(
  { context, settings, offered, keep }: Wizard,
  keys: KeyRing,
  pair: PairName,
): Promise<void> {
  const { terminal } = context;
  const { key } = PAIR_SETTINGS[pair];
  if (pair === 'QSealC' && (await terminal.confirm('Is its key elsewhere, for example in an HSM?'))) {
    settings.signer = await terminal.ask('Command that gets the signing string and prints the signature', {
      initial: offered.signer,
    });
    await keys.certificate(pair);
    return;
  }
  if ((await keys.read(pair)).key() === undefined) {
    const path = await terminal.askPath(`${pair} key: a PEM file`, {
      initial: pathIn(offered[key]),
      check: (text) => void readSource({ path: pathOf(text) }, key),
    });
    settings[key] = keep(pathOf(path), key);
  }
  await keys.pair(pair);
}

/** Asks for an optional file with certificates. @param otherwise what applies without it */
export async function askForFile(
  { context, settings, offered, today, keep }: Wizard,
  key: 'ca' | 'bankSigningCertificate',
  question: string,
  otherwise: string,
): Promise<void> {
  const { terminal } = context;
  if (today[key] && (await terminal.confirm(`${question}: keep the stored one?`, true))) return;
  const path = await terminal.askPath(`${question} (empty: ${otherwise})`, {
    initial: today[key] ? undefined : pathIn(offered[key]),
    check: async (text) => {
      if (text !== '') await readCertificateFile(readSource({ path: pathOf(text) }, key), undefined, text);
    },
  });
  if (path === '') delete settings[key];
  else settings[key] = keep(pathOf(path), key);
}

function pathIn(source: PemSource | undefined): string | undefined {
  return source && 'path' in source ? source.path : undefined;
}
