import type { BankCall } from '../../../../src/bank/call/call.ts';
import { type CbAnswer, understand } from '../../../../src/bank/interfaces/cb/answer.ts';

/** An answer as psd2 has received it, with what it understood. */
export async function answered(
  call: BankCall,
  {
    status = 200,
    headers = {},
    body,
  }: { status?: number; headers?: Record<string, string>; body: string | Buffer },
): Promise<CbAnswer> {
  const answer = { status, headers, body: Buffer.from(body) };
  const said = await understand(answer, call);
  const route = { path: '{other}', kind: 'other' } as const;
  return { ...answer, call, route, tppRequestId: 'bbbbbbbb-cccc-4ddd-8eee-ffffffffffff', reply: said };
}
