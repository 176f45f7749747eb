import { writeCommand } from '../../advice.ts';
import { type Line, writeFoot, writeHead, writeStep } from '../../smoke/lines.ts';
import type { SmokeRun } from '../../smoke/result.ts';
import type { Context } from '../context.ts';
import { collect, examples, verb } from '../declare.ts';
import { REPORT_HELP, USUAL_SLOW_MS } from './plan.ts';
import { printLines } from './print.ts';
import { openRecords } from './record.ts';
import { readReports } from './reports.ts';
import { endWith, isAsciiIn } from './run.ts';
import { smokeRun } from './shape.ts';

/** `psd2 smoke show [run]`: a run again. Asks no bank. */
export const show = verb(
  {
    prints: { what: 'a smoke test', shape: smokeRun },
    help: examples('psd2 smoke show', 'psd2 smoke show sm-0mwx2f --report smoke.xml'),
  },
  (command) =>
    command
      .argument('[run]', 'its id or the beginning of it; default: the last run')
      .option('--report <form=file>', REPORT_HELP, collect, []),
  async (context, id, { report }) => {
    const reports = readReports(context, report);
    const run = openRecords(context.folder.smoke(context.profileName())).find(id);
    printLines(context, reports, linesOf(context, run));
    if (context.output.format !== 'table') context.output.record(run, smokeRun);
    endWith(context, { reports, slowMs: USUAL_SLOW_MS }, run, undefined);
  },
);

/** A run as people read it. */
export function linesOf({ env, repeated }: Context, run: SmokeRun): Line[] {
  const isAscii = isAsciiIn(env);
  const next = writeCommand(['log', '--run', run.run], repeated);
  const steps = run.steps.map((step) =>
    writeStep(step, isAscii, step.error?.tppRequestId ? next : undefined),
  );
  return [writeHead(run), ...steps, writeFoot(run)];
}
