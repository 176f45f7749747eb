import { adviceOf } from '../../advice.ts';
import { isAccepted, isPlainlyFailed } from '../../domain/flow-states.ts';
import type { Transfer } from '../../domain/transfer.ts';
import { endSentence, Psd2Error } from '../../errors.ts';
import { cleanLines } from '../../terminal/clean.ts';
import { silentOutput } from '../../terminal/output/output.ts';
import type { Context } from '../context.ts';
import { listedFlows, printFlows } from '../flow/list.ts';
import { TRANSFERS } from './transfers.ts';

/** Continues one transfer, and prints it in the output of the context. */
type ResumeOne = (context: Context, flow: string) => Promise<void>;

/**
 * Continues all transfers that need a person, one after the other, the oldest first, and prints them as they are then. A failure
 * of one does not stop the others.
 *
 * @throws Psd2Error the first failure, after all were tried; `interrupted` at once
 */
export async function resumeAll(context: Context, resumeOne: ResumeOne): Promise<void> {
  const { output, terminal } = context;
  // This command shows all unfinished flows, so it names none as interrupted.
  const { flows } = await context.store('');
  const unfinished: string[] = [];
  for await (const { flow } of listedFlows(context, 'transfer', {
    attention: true,
    accepted: true,
  }))
    unfinished.push(flow);
  unfinished.reverse();

  const askedBatches = new Set<string>();
  /** Asks about all payments of a batch that the bank accepted together. @throws Psd2Error `payment_failed` if it has rejected this one */
  const askTogether = async ({ flow, order: { batch } }: Transfer) => {
    if (batch && !askedBatches.has(batch.batch)) {
      askedBatches.add(batch.batch);
      await (await import('../batch/ask-accepted.ts')).askAcceptedIn(context, batch.batch);
    }
    const now = await flows.find('transfer', flow);
    if (isPlainlyFailed(now))
      throw new Psd2Error(
        'payment_failed',
        `The bank has rejected the transfer ${flow}, which it had accepted`,
      );
  };
  const failures: Psd2Error[] = [];
  const tried: Transfer[] = [];
  for (const flow of unfinished) {
    const own = { ...context, output: silentOutput(output.format), repeated: { ...context.repeated } };
    try {
      const before = await flows.find('transfer', flow);
      const isAsked = askedBatches.has(before.order.batch?.batch ?? '');
      if (before.bulk !== null && (isAsked || isAccepted(before))) await askTogether(before);
      else await resumeOne(own, flow);
    } catch (error) {
      if (!(error instanceof Psd2Error) || error.code === 'interrupted') throw error;
      failures.push(error);
      const advice = adviceOf(error, own.repeated) ?? '';
      terminal.warn(cleanLines(`Transfer ${flow}: ${endSentence(error.message)} ${advice}`.trimEnd()));
    }
    tried.push(await flows.find('transfer', flow));
  }

  await printFlows(context, TRANSFERS, tried, 'No transfer is unfinished.');
  const [first] = failures;
  if (!first) return;
  throw new Psd2Error(
    first.code,
    `${failures.length} of ${tried.length} transfers could not be continued. First failure: ${first.message}`,
    { hint: 'See what is left with:', next: [['transfer', 'list', '--attention']] },
  );
}
