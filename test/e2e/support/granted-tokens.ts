import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { Operator } from './psd2.ts';

const running = z.object({ baseUrl: z.string(), customerSiteUrl: z.string(), controlToken: z.string() });
const granted = z.object({ accessToken: z.string() });

/** Gets an access token for each customer from the running sandbox, as a login would. */
export async function grantedTokens({ config }: Operator, customerIds: readonly string[]) {
  const bank = running.parse(JSON.parse(readFileSync(join(config, 'sandbox', 'running.json'), 'utf8')));
  const tokens: { customerId: string; accessToken: string }[] = [];
  for (const customerId of customerIds) {
    const answer = await fetch(`${bank.customerSiteUrl}/control/tokens`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bank.controlToken}` },
      body: JSON.stringify({ customerId }),
    });
    tokens.push({ customerId, ...granted.parse(await answer.json()) });
  }
  return { baseUrl: new URL(bank.baseUrl).href, tokens };
}
