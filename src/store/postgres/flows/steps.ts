import * as z from 'zod/mini';
import { heldSteps } from '../../flow/steps.ts';
import type { HeldSteps } from '../../ports/copy.ts';
import { ProfileRows } from '../database.ts';

/** What banks have said for the next steps of customers: a row for each flow, until the authorisation is over. */
export class StepRows extends ProfileRows {
  async of(flow: string): Promise<HeldSteps | undefined> {
    const row = await this.lookOne(
      z.object({ steps: heldSteps }),
      'select steps from psd2.steps where profile = $1 and flow = $2',
      [flow],
    );
    return row?.steps;
  }

  /** Holds what a flow has now, durably, in place of what it had. @param steps null: nothing. @throws Psd2Error `config` */
  async hold(flow: string, steps: HeldSteps | null): Promise<void> {
    const durable = `with durable as materialized (select set_config('synchronous_commit', 'on', true))`;
    if (steps === null)
      await this.executeAgain(
        `${durable} delete from psd2.steps using durable where profile = $1 and flow = $2`,
        [flow],
      );
    else
      await this.executeAgain(
        `${durable} insert into psd2.steps (profile, flow, steps) select $1, $2, $3::json from durable
         on conflict (profile, flow) do update set steps = excluded.steps`,
        [flow, JSON.stringify(steps)],
      );
  }
}
