import type { SandboxLogin } from './bank-side.ts';

interface Entry {
  session: string;
  login: SandboxLogin;
}

/** Who logged in for which login request, until they decide; only the browser session that did so may. */
export class SignedIn {
  readonly #entries = new Map<string, Entry>();

  /** @param isOpen whether a login request still waits for a decision; the others are forgotten. */
  remember(requestId: string, entry: Entry, isOpen: (requestId: string) => boolean): void {
    for (const id of this.#entries.keys()) if (!isOpen(id)) this.#entries.delete(id);
    this.#entries.set(requestId, entry);
  }

  find(requestId: string, session: string): SandboxLogin | undefined {
    const entry = this.#entries.get(requestId);
    return entry?.session === session ? entry.login : undefined;
  }

  forget(requestId: string): void {
    this.#entries.delete(requestId);
  }
}
