import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { adviceOf } from '../../../advice.ts';
import { readCertificateFile } from '../../../certificates/certificate-file.ts';
import { isPkcs12, type PairName } from '../../../certificates/key-pair.ts';
import { Psd2Error } from '../../../errors.ts';
import type { PemSource } from '../../../store/machine/profiles.ts';
import { type PemSetting, readSource } from '../../../store/machine/settings.ts';
import { checkProfileCertificates } from '../../cert/profile-certificates.ts';
import { type KeyRing, PAIR_SETTINGS } from '../../open/keys.ts';
import { showChecks } from './try-connection.ts';
import type { Wizard } from './wizard.ts';

/** A certificate and its key, asked for until they are right or the operator takes them as they are. */
export async function askForPair(wizard: Wizard, keys: KeyRing, pair: PairName): Promise<void> {
  const { context, settings } = wizard;
  const { terminal, world } = context;
  const setting = PAIR_SETTINGS[pair];
  for (;;) {
    delete settings.signer;
    delete settings[setting.key];
    await askForCertificate(wizard, pair);
    try {
      await askForKey(wizard, keys, pair);
      const only = {
        signer: settings.signer,
        [setting.certificate]: settings[setting.certificate],
        [setting.key]: settings[setting.key],
      };
      const limits = { now: world.now(), days: 30, soon: 'warn' } as const;
      const checks = await checkProfileCertificates(context, { name: '', settings: only }, limits, keys);
      if (showChecks(context, checks)) return;
      if (await terminal.confirm('Use it all the same?')) return;
    } catch (error) {
      if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
      terminal.warn([error.message, adviceOf(error)].filter(Boolean).join('. '));
    }
  }
}

async function askForCertificate(
  { context, settings, offered, keep }: Wizard,
  pair: PairName,
): Promise<void> {
  const { certificate } = PAIR_SETTINGS[pair];
  const path = await context.terminal.ask(`${pair} certificate: a PEM or PKCS#12 file`, {
    initial: pathIn(offered[certificate]),
    check: async (text) => {
      const bytes = readSource({ path: pathOf(text) }, certificate);
      if (!isPkcs12(bytes)) await readCertificateFile(bytes, undefined, text);
    },
  });
  settings[certificate] = keep(pathOf(path), certificate);
}

/** The key of a certificate that was given: in its file, in one of its own, or elsewhere behind a command. */
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
    const path = await terminal.ask(`${pair} key: a PEM file`, {
      initial: pathIn(offered[key]),
      check: (text) => void readSource({ path: pathOf(text) }, key),
    });
    settings[key] = keep(pathOf(path), key);
  }
  await keys.pair(pair);
}

/** A file with certificates that a profile need not have. */
export async function askForFile(
  { context, offered, keep }: Wizard,
  key: PemSetting,
  question: string,
): Promise<PemSource | undefined> {
  const path = await context.terminal.ask(question, {
    initial: pathIn(offered[key]),
    check: async (text) => {
      if (text !== '') await readCertificateFile(readSource({ path: pathOf(text) }, key), undefined, text);
    },
  });
  return path === '' ? undefined : keep(pathOf(path), key);
}

function pathIn(source: PemSource | undefined): string | undefined {
  return source && 'path' in source ? source.path : undefined;
}

/** A path as it is typed, where no shell has read it. */
function pathOf(text: string): string {
  const path = text.trim();
  return path.startsWith('~/') ? join(homedir(), path.slice(2)) : resolve(path);
}
