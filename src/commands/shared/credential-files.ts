import { statSync } from 'node:fs';
import { Psd2Error } from '../../errors.ts';
import { isMissing, readNamedFile } from '../../store/disk/files.ts';
import { refuseUnsafe } from '../../store/disk/permissions.ts';
import { embeddedOf } from '../../store/machine/settings.ts';
import type { Context, GivenCredentials } from '../context.ts';

/** What a file is for. */
type Kind = 'PIN' | 'TAN';

const OPTIONS = { PIN: '--psu-password-file', TAN: '--otp-file' } as const;

/**
 * The files with credentials that a command may read. Only a profile with `files` has any: an option elsewhere is refused, a variable is
 * not looked at.
 *
 * @throws Psd2Error `config` if the profile allows none, or others can read one; `usage` if one has not one line. A TAN may come later
 */
export function checkedFiles(context: Context, options: GivenCredentials): GivenCredentials {
  const { psuPasswordFile, otpFile } = options;
  const profile = context.profile();
  const how = embeddedOf(profile);
  if (how !== 'files') {
    if ((psuPasswordFile ?? otpFile) === undefined) return {};
    throw new Psd2Error('config', `The profile ${profile.name} takes no credentials from files`, {
      hint: 'Leave the option out, and the customer types them. If these are test customers at a sandbox, allow it:',
      next: [['profile', 'set', profile.name, '--embedded', 'files']],
    });
  }
  const { PSD2_PSU_PASSWORD_FILE: passwords, PSD2_OTP_FILE: codes } = context.env;
  const [pin, tan] = [psuPasswordFile ?? (passwords || undefined), otpFile ?? (codes || undefined)];
  if (pin === '-' && tan === '-')
    throw new Psd2Error('usage', 'Only one of PIN and TAN can come from standard input', {
      hint: 'Name a file for the other one.',
    });
  if ((pin === '-' || tan === '-') && context.terminal.canAsk)
    throw new Psd2Error('usage', '- reads a pipe, and standard input is a terminal', {
      hint: 'Leave the option out. Then psd2 asks, and shows nothing of what is typed.',
    });
  if (pin !== undefined) checkFile(pin, 'PIN');
  if (tan !== undefined) checkFile(tan, 'TAN');
  return { psuPasswordFile: pin, otpFile: tan };
}

function checkFile(path: string, kind: Kind): void {
  if (!isRegular(path)) return;
  const value = readValue(path, kind);
  if (value === '' && kind === 'PIN') throw refused(path, kind, 'is empty');
}

/** Whether it can be read now. A pipe is read when the bank has asked. */
function isRegular(path: string): boolean {
  return path !== '-' && (statSync(path, { throwIfNoEntry: false })?.isFile() ?? true);
}

/** @throws Psd2Error `usage` if it is missing or has more lines, `config` if others can read it */
function readValue(path: string, kind: Kind): string {
  try {
    const content = readNamedFile(path, `The ${kind} file ${path}`, 'usage').toString('utf8');
    refuseUnsafe(path, 'secret');
    return oneLine(content, path, kind);
  } catch (error) {
    if (kind === 'TAN' && error instanceof Psd2Error && isMissing(error.cause)) return '';
    throw error;
  }
}

/** The line of a file. An editor's mark at its beginning and the end of the line are no part of it, and nothing else is that nobody sees. */
function oneLine(content: string, path: string, kind: Kind): string {
  const value = content.replace(/^\ufeff/, '').replace(/\r?\n$/, '');
  if (/[\r\n]/.test(value)) throw refused(path, kind, 'has more than one line');
  if (value.includes('\ufffd')) throw refused(path, kind, 'is not text in UTF-8');
  if (UNSEEN.test(value))
    throw refused(path, kind, 'has a character that nobody sees, or a space at its beginning or end');
  return value;
}

/** All kinds of spaces but the usual one between others, and what has no width. */
const UNSEEN = /[^\P{C}]|[^\P{Z} ]|\p{DI}|^ | $/u;

function refused(path: string, kind: Kind, what: string): Psd2Error {
  const place = path === '-' ? 'standard input' : path;
  return new Psd2Error('usage', `The ${kind} in ${place} ${what}`, {
    hint: `${OPTIONS[kind]} names a file of yours with the mode 0600 and one line.`,
  });
}

/**
 * The value of a file, now that the bank has asked for it.
 *
 * @returns empty if there is none (yet)
 * @throws Psd2Error as {@link checkedFiles}
 */
export async function readCredential(
  { readStdin }: Pick<Context, 'readStdin'>,
  path: string,
  kind: Kind,
): Promise<string> {
  return path === '-' ? oneLine(await readStdin(), path, kind) : readValue(path, kind);
}
