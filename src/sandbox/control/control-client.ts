import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import type { RunningSandbox } from '../folder/running.ts';

const ANSWER_MS = 5000;

/**
 * Orders a sandbox that runs about.
 *
 * @param path under `/control`
 * @param body sent as JSON
 * @throws Psd2Error `sandbox` when it does not answer, or says no
 */
export async function control<T>(
  { customerSiteUrl, controlToken }: RunningSandbox,
  call: { method: 'GET' | 'POST' | 'DELETE'; path: string; body?: object },
  answer: z.ZodMiniType<T>,
): Promise<T> {
  const response = await fetch(`${customerSiteUrl}/control${call.path}`, {
    method: call.method,
    headers: { Authorization: `Bearer ${controlToken}`, 'Content-Type': 'application/json' },
    ...(call.body && { body: JSON.stringify(call.body) }),
    signal: AbortSignal.timeout(ANSWER_MS),
  }).catch((cause: unknown) => {
    throw new Psd2Error('sandbox', `The sandbox does not answer at ${customerSiteUrl}`, {
      hint: 'End it, then start it again:',
      next: [
        ['sandbox', 'stop'],
        ['sandbox', 'start', '--detach'],
      ],
      cause,
    });
  });
  const json: unknown = await response.json().catch(() => undefined);
  const read = answer.safeParse(json);
  if (response.ok && read.success) return read.data;
  const refusal = z.object({ error: z.string() }).safeParse(json).data?.error;
  throw new Psd2Error('sandbox', `The sandbox did not do it: ${refusal ?? `it answered ${response.status}`}`);
}

/** Takes a sandbox that runs back to its start. @throws Psd2Error `sandbox` */
export async function resetSandbox(running: RunningSandbox): Promise<void> {
  await control(running, { method: 'POST', path: '/reset' }, z.object({ reset: z.literal(true) }));
}
