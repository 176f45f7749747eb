import * as z from 'zod/mini';
import { Psd2Error } from '../../errors.ts';
import type { RunningSandbox } from '../folder/running.ts';

const ANSWER_MS = 5000;

/**
 * Sends a control request to a running sandbox.
 *
 * @throws Psd2Error `sandbox` if the sandbox does not answer, or refuses
 */
export async function control<T>(
  { customerSiteUrl, controlToken }: RunningSandbox,
  /** `path` is relative to `/control`. `body` is sent as JSON. */
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
      hint: 'Stop it, then start it again:',
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
  throw new Psd2Error('sandbox', `The sandbox refused: ${refusal ?? `it answered ${response.status}`}`);
}

/** Resets a running sandbox. @throws Psd2Error `sandbox` */
export async function resetSandbox(running: RunningSandbox): Promise<void> {
  await control(running, { method: 'POST', path: '/reset' }, z.object({ reset: z.literal(true) }));
}
