import { hostname, userInfo } from 'node:os';
import { cleanText } from '../../terminal/clean.ts';

/** Who runs psd2: the operating system's user, and the host's name. */
export function operatorOf(): { user: string; machine: string } {
  let user: string;
  try {
    user = userInfo().username;
  } catch {
    // In a container a user may have no name.
    user = String(process.getuid?.() ?? 'unknown');
  }
  return { user: cleanText(user), machine: cleanText(hostname()) };
}
