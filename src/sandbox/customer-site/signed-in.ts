import type { SandboxLogin } from './bank-side.ts';

interface Entry {
  session: string;
  login: SandboxLogin;
}

/** Remembers which customer logged in for a login request until they decide. Only the same browser session may decide. */
export class SignedIn {
  readonly #entries = new Map<string, Entry>();

  /** @param isOpen whether a login request still waits for a decision. Entries of closed requests are dropped. */
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
