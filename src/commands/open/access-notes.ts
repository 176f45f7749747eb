import type { Bank, TokenSource } from '../../bank/call/bank.ts';
import { Psd2Error } from '../../errors.ts';
import type { AccessNotes } from '../../store/ports/access.ts';
import type { StoredLogin } from '../../store/ports/tokens.ts';
import type { ProfileContext } from '../context.ts';

/** Notes of what the bank refused to the profile's logins. */
export async function openAccessNotes({ home, profile }: ProfileContext): Promise<AccessNotes> {
  return (await home()).open(profile().name).notes;
}

/** Writes a note. A failure to write must not hide the error that is being reported. */
async function unlessItFails(write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!(error instanceof Psd2Error)) throw error;
  }
}

/** Notes when the bank refuses to renew these tokens. */
export function notingRefreshes(
  tokens: TokenSource,
  context: ProfileContext,
  holder: string | null,
  loginNow: () => Promise<StoredLogin | undefined>,
): TokenSource {
  const noting = async (get: () => Promise<string>) => {
    try {
      return await get();
    } catch (error) {
      const login = await loginNow();
      // Without a status, psd2 has not asked the bank.
      if (error instanceof Psd2Error && error.code === 'not_logged_in' && error.httpStatus && login) {
        const refused = { at: context.world.now().toISOString(), message: error.message };
        await unlessItFails(async () =>
          (await openAccessNotes(context)).refreshRefused(holder, login, refused),
        );
      }
      throw error;
    }
  };
  return {
    current: () => noting(() => tokens.current()),
    renewed: (old) => noting(() => tokens.renewed(old)),
  };
}

/** Notes a call that the bank does not allow (HTTP 403), until it allows one. */
export function notingCalls(bank: Bank, context: ProfileContext, holder: string | null): Bank {
  let isRefused: boolean | undefined;
  const noteCall = (message: string | undefined) =>
    unlessItFails(async () => {
      const notes = await openAccessNotes(context);
      isRefused ??= await notes.hasRefusedCall(holder);
      if (isRefused === (message !== undefined)) return;
      isRefused = message !== undefined;
      await notes.callRefused(
        holder,
        message === undefined ? undefined : { at: context.world.now().toISOString(), message },
      );
    });
  return {
    exchange: bank.exchange,
    async call(call, schema) {
      try {
        const reading = await bank.call(call, schema);
        // Calls about a product need a consent.
        if (call.method === 'GET' && call.path.includes('/products/')) await noteCall(undefined);
        return reading;
      } catch (error) {
        if (error instanceof Psd2Error && error.code === 'forbidden') await noteCall(error.message);
        throw error;
      }
    },
  };
}
