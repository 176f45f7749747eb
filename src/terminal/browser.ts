import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isLoopback } from '../domain/local-address.ts';
import { urlFrom } from '../domain/url.ts';
import { Psd2Error } from '../errors.ts';
import { cleanText } from './clean.ts';
import { environmentFor, withheldFrom } from './program-environment.ts';
import { shellWords } from './shell-words.ts';

/** C0 and C1 controls and DEL; `URL` would silently drop tabs and newlines. */
const CONTROL_CHARACTERS = /\p{Cc}/u;
/** Longer than any server accepts. */
const MAX_ADDRESS_LENGTH = 8_192;

/**
 * An address from the bank (`Location`, `scaRedirectURL`) that psd2 may open in a browser: absolute, `https:`, or `http:`
 * on loopback, without credentials, backslashes or control characters, at most 8192 characters. Show and open its `href`,
 * which is ASCII.
 *
 * @throws Psd2Error `bank_answer` for any other address. The message does not repeat the address
 */
export function assertOpenable(url: string): URL {
  const refuse = (why: string) =>
    new Psd2Error('bank_answer', `psd2 does not open the address from the bank in a browser: ${why}`, {
      hint: 'Check the base URL of the profile. If it is right, ask the bank.',
    });
  if (url.length > MAX_ADDRESS_LENGTH) throw refuse(`it is longer than ${MAX_ADDRESS_LENGTH} characters`);
  // `URL` reads a backslash as a slash. Not every browser does, so the browser might open another host.
  if (url.includes('\\')) throw refuse('it contains a backslash');
  if (CONTROL_CHARACTERS.test(url)) throw refuse('it contains control characters');
  const parsed = urlFrom(url);
  if (!parsed) throw refuse('it is not an absolute URL');
  if (parsed.protocol !== 'https:' && !(parsed.protocol === 'http:' && isLoopback(parsed)))
    throw refuse('it is neither https: nor http: on this computer');
  if (parsed.username !== '' || parsed.password !== '') throw refuse('it contains a user name or a password');
  return parsed;
}

/**
 * Opens an address in a browser that keeps running when `psd2` ends or is interrupted. Resolves once the browser's
 * process has started, or has failed to start.
 *
 * @param url checked with {@link assertOpenable}
 * @param browser a command that gets the address as its last argument (split as a shell splits words, run without a
 *   shell). `none` opens nothing. Undefined means the system's browser
 * @param onFailure called at most once if the browser cannot be started or ends with an error: with one sentence, and with the
 *   last lines that the command wrote to stderr
 * @throws Psd2Error `bank_answer` if psd2 may not open the address, `config` if the command cannot be parsed
 */
export async function openInBrowser(
  url: string,
  browser: string | undefined,
  onFailure: (message: string, said: string) => void,
): Promise<void> {
  const { href } = assertOpenable(url);
  if (browser === 'none') return;
  const [program, ...options] = shellWords(browser ?? '', 'PSD2_BROWSER or BROWSER');
  // What the system starts is not the operator's choice, so how it ended helps nobody.
  const failed = (how: string) =>
    program === undefined
      ? 'No browser could be opened here.'
      : `The browser command ${JSON.stringify(program)} ${how}.`;
  try {
    const { child, readErrors } =
      program === undefined
        ? { child: await openSystemBrowser(href), readErrors: () => '' }
        : await start(program, [...options, href]);
    child.once('exit', (code, signal) => {
      const lines = readErrors();
      if (signal !== null) onFailure(failed(`was ended by ${signal}`), lines);
      else if (code !== 0) onFailure(failed(`ended with the exit code ${code}`), lines);
    });
  } catch (error) {
    onFailure(failed(`could not be started${reason(error)}`), '');
  }
}

/** As many characters of stderr as a message can show. */
const MAX_SAID = 500;

/** Starts a command. What it writes to stderr goes to a file without a name: unlike a pipe, it may outlive psd2. */
async function start(
  program: string,
  args: string[],
): Promise<{ child: ChildProcess; readErrors: () => string }> {
  const folder = mkdtempSync(join(tmpdir(), 'psd2-browser-'));
  const file = openSync(join(folder, 'stderr'), 'wx+', 0o600);
  const readErrors = () => {
    const bytes = Buffer.alloc(4 * MAX_SAID);
    const from = Math.max(0, fstatSync(file).size - bytes.length);
    const size = readSync(file, bytes, 0, bytes.length, from);
    closeSync(file);
    return cleanText(bytes.toString('utf8', 0, size).trim()).slice(-MAX_SAID);
  };
  try {
    // Detached: in its own process group, so that the terminal's Ctrl-C does not reach it.
    const stdio = ['ignore', 'ignore', file] as const;
    const child = spawn(program, args, { detached: true, stdio: [...stdio], env: environmentFor('browser') });
    await once(child, 'spawn');
    child.unref();
    return { child, readErrors };
  } catch (error) {
    closeSync(file);
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Opens a file of psd2 with the program that the system has for it. @returns whether that was started */
export async function openFile(path: string): Promise<boolean> {
  try {
    await openSystemBrowser(path);
    return true;
  } catch {
    return false;
  }
}

/** `open` passes on this process's environment, so psd2 removes the withheld variables from it in the meantime. */
async function openSystemBrowser(href: string): Promise<ChildProcess> {
  const { default: open } = await import('open');
  const withheld = withheldFrom('browser').flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [{ name, value }];
  });
  for (const { name } of withheld) delete process.env[name];
  try {
    return await open(href);
  } finally {
    for (const { name, value } of withheld) process.env[name] = value;
  }
}

/** Why a program could not be started, as the end of a sentence. */
export function reason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return ': there is no such program';
  if (code === 'EACCES') return ': it is not executable';
  return '';
}
