import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as z from 'zod/mini';
import type { BankInterface } from '../../bank/ports/bank.ts';
import { adviceIn, Psd2Error } from '../../errors.ts';
import { checkStore as checkFolder, inspectStore } from '../../store/machine/folder.ts';
import { isNeeded, isPemSetting, isTextSetting, settingKeys } from '../../store/machine/setting-table.ts';
import {
  baseUrlOf,
  dailyLimitOf,
  embeddedOf,
  maxAmountOf,
  type Profile,
  redirectUriOf,
  requireSetting,
  requireSource,
  staleAfterOf,
} from '../../store/machine/settings.ts';
import { checkConsents, checkEndings, checkToken } from '../checks/access.ts';
import { checkCertificates, checkChains, checkSigner } from '../checks/certificates.ts';
import { checkConnection, checkRedirectPort, connectionChecks } from '../checks/connection.ts';
import { sayContested } from '../checks/contested.ts';
import { Diagnosis, type Finding } from '../checks/diagnosis.ts';
import { sayLearn } from '../checks/key-id.ts';
import type { Context } from '../context.ts';
import { bareVerb, examples } from '../declare.ts';
import { CHECKS, finding, printChecks } from '../shared/checks.ts';
import { newRunId } from '../shared/run-id.ts';

/** The checks of what is in the store. */
const STORE_CHECKS = ['token', 'consents', 'expiring'];
/** Those that need a profile, after its settings. */
const profileChecks = (probes: BankInterface['probes'] = 'authorize') => [
  'QWAC',
  'chain',
  'signer',
  'redirect port',
  ...connectionChecks(probes),
  ...STORE_CHECKS,
];
const NO_PROFILE = 'there is no profile to check';
const UNTRUSTED = 'the configuration folder cannot be trusted';

export const doctor = bareVerb(
  CHECKS,
  `
Each check is ok, warn, fail or skip, and says what to do. The command sends one request, the authorize call that begins
a login, and uses no token. Where nobody logs in beforehand, it is a reading with a consent that does not exist. If such a bank
refuses the signature, psd2 bank learn finds out what it wants. The exit code is that of the first check that failed. A warning is not a failure.
${examples('psd2 doctor', 'psd2 --profile mybank doctor --json | jq -r \'.checks[] | select(.status != "ok") | .name\'')}`,
  diagnose,
  'diagnosis',
);

/**
 * Checks each thing that must be right before a call can succeed, in order. It sends one
 * request, as {@link checkConnection} says, and uses no token.
 *
 * @throws Psd2Error of the first check that failed
 */
async function diagnose(outer: Context): Promise<void> {
  // PSD2_RUN may name the run of a script.
  const context = outer.env.PSD2_RUN ? outer : outer.within({ calls: { run: newRunId('do', outer.world) } });
  const diagnosis = new Diagnosis();
  const profile = await checkMachine(context, diagnosis);
  if (profile === 'untrusted') {
    diagnosis.skip(profileChecks(), UNTRUSTED);
    await printChecks(context, diagnosis.checks);
    return diagnosis.fail();
  }
  if (profile) {
    const keys = await context.keys();
    await diagnosis.add('QWAC', () => checkCertificates(context, profile, keys));
    await diagnosis.make('chain', () => checkChains(context, profile, keys));
    await diagnosis.make('signer', () => checkSigner(context, profile, keys));
    await diagnosis.make('redirect port', () => checkRedirectPort(context, profile));
    if (diagnosis.checks.some(({ name, status }) => name === 'store' && status === 'fail'))
      diagnosis.skip(
        [...connectionChecks((await context.bankInterface()).probes), ...STORE_CHECKS],
        'the store cannot be used',
      );
    else {
      const refusal = await checkConnection(context, diagnosis);
      await sayLearn(diagnosis, refusal);
      await sayContested(context, diagnosis, refusal);
      await diagnosis.make('token', () => checkToken(context));
      await diagnosis.make('consents', () => checkConsents(context));
      await diagnosis.make('expiring', () => checkEndings(context));
    }
  } else {
    diagnosis.skip(profileChecks(), NO_PROFILE);
  }
  if (await printChecks(context, diagnosis.checks)) return;
  diagnosis.fail();
}

/**
 * Checks the settings, the files and the store. Connects to no bank.
 *
 * @returns the profile, if it can be read; `untrusted` if not even the folder may be read
 */
export async function checkMachine(
  context: Context,
  diagnosis: Diagnosis,
): Promise<Profile | 'untrusted' | undefined> {
  if (!isTrusted(context)) {
    await diagnosis.make('file modes', async () => checkModes(context));
    diagnosis.skip(['configuration', 'settings'], UNTRUSTED);
    return 'untrusted';
  }
  const profile = await diagnosis.make('configuration', () => openConfiguration(context));
  if (profile) {
    await diagnosis.make('settings', async () => checkSettings(profile));
    await diagnosis.add('embedded SCA', () => checkEmbedded(context, profile));
  }
  if (!profile) diagnosis.skip(['settings'], NO_PROFILE);
  await diagnosis.make('file modes', async () => checkModes(context));
  await diagnosis.make('compiled code', async () => checkCompiledCode());
  await diagnosis.add('store', () => checkStore(context, profile?.name));
  return profile;
}

/** What the store says about itself, and whether it is the one with the data of the profile. */
async function checkStore(
  context: Context,
  profile: string | undefined,
): Promise<(Finding & { name: string })[]> {
  const findings: (Finding & { name: string })[] = [];
  for await (const check of (await context.wholeStore()).check(profile)) findings.push(check);
  return findings;
}

/** Whether there is a profile that can be read. */
async function openConfiguration(context: Context): Promise<Finding & { value: Profile }> {
  const profile = await context.unsealed();
  const baseUrl = baseUrlOf(profile);
  const { environment } = profile.settings;
  const kind = environment === undefined ? '' : `, ${environment}`;
  return { ...finding('ok', `profile ${profile.name}${kind}: ${baseUrl.href}`), value: profile };
}

/** Whether the profile has everything that a login needs. */
function checkSettings(profile: Profile): Finding {
  for (const key of settingKeys().filter((key) => isNeeded(key, profile.settings))) {
    if (isTextSetting(key)) requireSetting(profile, key);
    if (isPemSetting(key)) requireSource(profile, key);
  }
  redirectUriOf(profile);
  dailyLimitOf(profile);
  maxAmountOf(profile);
  staleAfterOf(profile);
  return finding('ok', 'everything that a login needs is set');
}

/** What the profile allows at a bank that may want a customer's PIN and TAN from psd2. Nothing is found at another bank. */
async function checkEmbedded(context: Context, profile: Profile): Promise<(Finding & { name: string })[]> {
  // What is wrong with a bank file is found with the first call.
  const bank = await context.bankInterface().catch(() => undefined);
  const takes = bank?.takesCredentials;
  if (!takes) return [];
  const name = 'embedded SCA';
  const how = embeddedOf(profile);
  if (how !== 'never' || !takes.isAlone)
    return [{ name, ...finding('ok', `how psd2 may take PIN and TAN of customers: ${how}`) }];
  const fix = {
    hint: 'What it means is in docs/embedded.md. If customers type them here, allow it:',
    next: [['profile', 'set', profile.name, '--embedded', 'ask']],
  };
  const detail = 'customers of this bank give psd2 PIN and TAN, and the profile does not allow it';
  return [{ name, ...finding('warn', detail, fix) }];
}

/** Whether psd2 may use the configuration folder. psd2 does not even read a folder that others can change. */
function isTrusted({ folder }: Context): boolean {
  try {
    checkFolder(folder, () => {});
    return true;
  } catch (error) {
    if (error instanceof Psd2Error) return false;
    throw error;
  }
}

/** Whether psd2 can trust the stored files and nobody else can read them: the check that every command makes. */
function checkModes({ folder, terminal }: Context): Finding {
  if (process.platform === 'win32') return finding('skip', 'file modes mean nothing on Windows');
  checkFolder(folder, terminal.warn);
  const { root } = folder;
  if (!existsSync(root)) return finding('skip', `there is no folder ${root} yet`);
  const { faults, listable } = inspectStore(folder);
  const [first, ...more] = faults;
  if (first && more.length === 0) return finding('fail', first.message, adviceIn(first));
  if (first) {
    const hint = `${first.hint} To fix all of them at once: chmod -R go= ${root}`;
    return finding('fail', `${first.message}, and ${more.length} more like it`, { hint });
  }
  if (listable.length > 0) {
    const others = listable.length > 3 ? ` and ${listable.length - 3} more` : '';
    const detail = `others can list ${listable.slice(0, 3).join(', ')}${others}`;
    return finding('warn', detail, { hint: `Run: chmod 700 ${listable.join(' ')}` });
  }
  return finding('ok', `${root} and its contents: only you can read and change them`);
}

/** What the loader of the built program says of its compiled code (bin/loader.js). */
const loader = z.object({
  kept: z.union([z.object({ folder: z.string(), build: z.string() }), z.object({ why: z.string() })]),
});

/** The paths of the loader: from a chunk of the build, and from this file. */
const LOADERS = ['../../bin/loader.js', '../../../bin/loader.js'] as const;

/**
 * Whether psd2 keeps its compiled code between runs. Without that it starts more slowly, and nothing else changes.
 *
 * @param path of the loader
 */
export function checkCompiledCode(path: string = loaderPath()): Finding {
  const { kept: cache } = loader.parse(createRequire(import.meta.url)(path));
  if ('folder' in cache) return finding('ok', `psd2 keeps it in ${cache.folder}`);
  return finding('warn', `psd2 compiles itself at each start: ${cache.why}`, {
    hint: 'Give the user a home folder that only this user can change. Slower starts are the only consequence.',
  });
}

function loaderPath(): string {
  const [built, source] = LOADERS;
  return existsSync(new URL(built, import.meta.url)) ? built : source;
}
