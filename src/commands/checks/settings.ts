import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as z from 'zod/mini';
import { adviceIn, Psd2Error } from '../../errors.ts';
import { checkStore as checkFolder, inspectStore } from '../../store/machine/folder.ts';
import { isNeeded, isPemSetting, isTextSetting, settingKeys } from '../../store/machine/setting-table.ts';
import {
  adviceOnEmbedded,
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
import type { Context } from '../context.ts';
import { finding } from '../shared/checks.ts';
import type { Check, Subject } from './check.ts';
import type { Finding } from './diagnosis.ts';

const NO_PROFILE = 'there is no profile to check';
/** Then nothing else is looked at. */
export const UNTRUSTED = 'the configuration folder cannot be trusted';

/** Whether the profile and the files of this machine are right. It opens the profile. */
export const settings: Check = {
  id: 'settings',
  needs: [],
  names: async () => ['configuration', 'settings', 'file modes', 'compiled code'],
  run: checkMachine,
};

async function checkMachine({ context, diagnosis }: Subject): Promise<string | undefined> {
  if (!isTrusted(context)) {
    await diagnosis.make('file modes', async () => checkModes(context));
    diagnosis.skip(['configuration', 'settings'], UNTRUSTED);
    return UNTRUSTED;
  }
  const profile = await diagnosis.make('configuration', () => openConfiguration(context));
  if (profile) {
    await diagnosis.make('settings', async () => checkSettings(profile));
    await diagnosis.add('embedded SCA', () => checkEmbedded(context, profile));
  } else diagnosis.skip(['settings'], NO_PROFILE);
  await diagnosis.make('file modes', async () => checkModes(context));
  await diagnosis.make('compiled code', async () => checkCompiledCode());
  return profile ? undefined : NO_PROFILE;
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
  const advice = adviceOnEmbedded(profile, takes);
  if (!advice)
    return [{ name, ...finding('ok', `how psd2 may take PIN and TAN of customers: ${embeddedOf(profile)}`) }];
  const detail = 'customers of this bank give psd2 PIN and TAN, and the profile does not allow it';
  return [{ name, ...finding('warn', detail, advice) }];
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

/** What the built program says of its compiled code (bin/compiled-code.js). */
const compiledCode = z.object({
  state: z.object({
    code: z.union([
      z.object({ folder: z.string(), isShared: z.optional(z.boolean()) }),
      z.object({ version: z.string() }),
      z.object({ why: z.string() }),
    ]),
  }),
});

/** The paths of that file: from a chunk of the build, and from this source. */
const PLACES = ['../../bin/compiled-code.js', '../../../bin/compiled-code.js'] as const;

/**
 * Whether Node.js keeps the compiled code of psd2 between runs. Without that it starts more slowly, and nothing else changes.
 *
 * @param path of the file that says so
 */
export function checkCompiledCode(path: string = placeOfCompiledCode()): Finding {
  const { code } = compiledCode.parse(createRequire(import.meta.url)(path)).state;
  if ('version' in code)
    return finding('skip', `Node.js ${code.version} keeps none; with 22.8 or newer, psd2 starts faster`);
  if ('why' in code)
    return finding('warn', `psd2 compiles itself at each start: ${code.why}`, {
      hint: 'Give the user a home folder that only this user can change. Slower starts are the only consequence.',
    });
  const { folder, isShared = false } = code;
  if (isShared)
    return finding('warn', `others could change the code in ${folder}, which Node.js runs`, {
      hint: `NODE_COMPILE_CACHE names this folder. Unset it, or run: chmod go= ${folder}`,
    });
  return finding('ok', `Node.js keeps it in ${folder}`);
}

function placeOfCompiledCode(): string {
  const [built, source] = PLACES;
  return existsSync(new URL(built, import.meta.url)) ? built : source;
}
