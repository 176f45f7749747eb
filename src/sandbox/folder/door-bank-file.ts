import { join } from 'node:path';
import type { BankDescription } from '../../bank/interfaces/nextgenpsd2/description/schema.ts';
import { replaceDurably } from './durable-files.ts';

const FILE = 'nextgenpsd2-bank.json';

/** The addresses of a running second door. */
export interface DoorAddresses {
  baseUrl: string;
  metadata: string;
  authorization: string;
  token: string;
}

/** The bank file that describes the second door of a sandbox: for its clients. */
export function doorBankFile(folder: string): string {
  return join(folder, FILE);
}

/**
 * Writes {@link doorBankFile}: the bank that the door plays, with the door's addresses in place of the bank's. Only its user can
 * read it, as the other files of the folder.
 */
export async function writeDoorBankFile(
  folder: string,
  bank: BankDescription,
  addresses: DoorAddresses,
): Promise<void> {
  const { api, oauth } = bank;
  const described = {
    ...bank,
    api: { ...api, baseUrl: addresses.baseUrl },
    oauth: {
      ...oauth,
      ...((oauth.mode !== 'none' || oauth.metadata !== undefined) && { metadata: addresses.metadata }),
      ...(oauth.authorizationEndpoint !== undefined && { authorizationEndpoint: addresses.authorization }),
      ...(oauth.tokenEndpoint !== undefined && {
        tokenEndpoint: `${addresses.token}${new URL(oauth.tokenEndpoint).search}`,
      }),
    },
  };
  await replaceDurably(folder, FILE, `${JSON.stringify(described, null, 2)}\n`);
}
