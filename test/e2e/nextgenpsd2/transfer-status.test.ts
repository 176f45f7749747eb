import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { playCustomer } from '../../../src/sandbox/player/play-customer.ts';
import { ADDRESS } from '../support/psd2.ts';
import { useSecondDoor } from './second-door-customer.ts';

const PAY = [
  ...['transfer', 'create', '--from', 'IT89F0999001600000010482620', '--to', 'DE89370400440532013000'],
  ...['--name', 'Ada Lovelace', '--amount', '1.00', '--yes', '--json'],
];
const transfer = z.looseObject({
  ...{ flow: z.string(), state: z.string(), messages: z.array(z.string()) },
  ...{ transactionStatus: z.string().nullable(), scaStatus: z.string().nullable() },
});

describe('a payment whose customer came after psd2 had gone', () => {
  const operator = useSecondDoor();
  /** Leaves a payment with the customer, who decides later. */
  const left = async (decision: { refuse?: true }) => {
    const ended = await operator.psd2(PAY, { env: { PSD2_BROWSER: 'none', PSD2_SCA_TIMEOUT: '1' } });
    expect(ended.code, ended.stderr).toBe(6);
    const { flow, state } = transfer.parse(JSON.parse(ended.stdout));
    expect(state).toBe('authorizing');
    // Nobody listens for the browser any more.
    await playCustomer(ADDRESS.exec(ended.stderr)?.[1] ?? '', decision).catch(() => {});
    return flow;
  };

  it('is over for status and --watch if they refused it', async () => {
    const flow = await left({ refuse: true });
    const refused = { transactionStatus: 'RJCT', scaStatus: 'failed', state: 'authorizing' };
    for (const watch of [[], ['--watch']]) {
      const ended = await operator.psd2(['transfer', 'status', flow, ...watch, '--json']);
      expect(ended.code, ended.stderr).toBe(0);
      expect(JSON.parse(ended.stdout)).toMatchObject(refused);
      expect(ended.stderr).toContain(`psd2 transfer resume ${flow}`);
    }
    expect((await operator.psd2(['transfer', 'resume', flow, '--yes', '--json'])).code).toBe(6);
    expect(await operator.json(transfer, ['transfer', 'show', flow])).toMatchObject({ state: 'rejected' });
  });

  it('is over for --watch if they authorised it', async () => {
    const flow = await left({});
    const watched = await operator.json(transfer, ['transfer', 'status', flow, '--watch']);
    expect(watched).toMatchObject({ transactionStatus: 'ACSP', messages: [] });
    const resumed = await operator.json(transfer, ['transfer', 'resume', flow, '--yes']);
    expect(resumed).toMatchObject({ state: 'executed', transactionStatus: 'ACSP' });
  });
});
