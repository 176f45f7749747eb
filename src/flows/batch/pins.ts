import type { CredentialPorts, ReturnPorts } from '../ports.ts';

/** The PINs of one run of a batch. Three refused ones block a customer at most banks, so the run stops at the first. */
export class PinsOfRun {
  #isRefused = false;

  /** Whether the last PIN was not accepted, as far as psd2 knows, or a person must say that another one is sent. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** The same ports. The run learns what becomes of each PIN. */
  watching(returns: ReturnPorts): ReturnPorts {
    const { credentials } = returns;
    return credentials === undefined ? returns : { ...returns, credentials: this.#watched(credentials) };
  }

  #watched(credentials: CredentialPorts): CredentialPorts {
    return {
      ...credentials,
      password: async (question) => {
        try {
          return await credentials.password(question);
        } catch (error) {
          this.#isRefused = true;
          throw error;
        }
      },
      note: async (what, question, result) => {
        if (what === 'password') this.#isRefused = result !== 'accepted';
        await credentials.note(what, question, result);
      },
    };
  }
}
