import { describe, expect, it } from 'vitest';
import { Psd2Error } from '../../src/errors.ts';
import { announcing, NeverLeft, type Revoking } from '../../src/flows/once.ts';
import type { OpenFlow } from '../../src/store/ports/flows.ts';

const INTENT = { requestId: 'q-1', digest: 'SHA-256=x' };
const REVOKING = { notBegun: 'not begun', turnedAway: 'turned away' };

/** A journal of texts. The failures are thrown by the next writes after the first one. */
function journal(failure?: Error) {
  const lines: string[] = [];
  const open: Pick<OpenFlow<string, string>, 'record' | 'assertOurs'> = {
    async record(event) {
      if (lines.length > 0 && failure) throw failure;
      lines.push(event);
      return event;
    },
    async assertOurs() {
      lines.push('still ours');
    },
  };
  const announced = (revoking?: Revoking<string>) =>
    announcing<string>(open, ({ requestId, digest }) => `sent ${requestId} ${digest}`, revoking)(INTENT);
  return { lines, announced };
}

describe('a request that is announced in the journal of a flow', () => {
  it('the journal has the request before it leaves, and psd2 looks at the last moment whether the flow is still its own', async () => {
    const { lines, announced } = journal();
    const attempt = await announced();
    expect(lines).toEqual(['sent q-1 SHA-256=x']);
    await attempt?.beforeFirstByte?.();
    expect(lines).toEqual(['sent q-1 SHA-256=x', 'still ours']);
  });

  it('it waits until the journal has it', async () => {
    let isDurable = false;
    const slow: Pick<OpenFlow<string, string>, 'record' | 'assertOurs'> = {
      async record(event) {
        await new Promise(setImmediate);
        isDurable = true;
        return event;
      },
      async assertOurs() {},
    };
    await announcing<string>(slow, () => 'sent')(INTENT);
    expect(isDurable).toBe(true);
  });

  it('the journal learns that it did not begin, and that the bank turned it away', async () => {
    const { lines, announced } = journal();
    const attempt = await announced(REVOKING);
    await attempt?.beforeFirstByte?.();
    await attempt?.notBegun?.();
    await attempt?.turnedAway?.();
    expect(lines).toEqual(['sent q-1 SHA-256=x', 'still ours', 'not begun', 'turned away']);
  });

  it('a request that may have moved money although it was turned away is not revoked by the bank’s word alone', async () => {
    const { announced } = journal();
    const attempt = await announced({ notBegun: 'not begun' });
    expect(Object.keys(attempt ?? {})).toEqual(['beforeFirstByte', 'notBegun']);
  });

  it('a request without a way back is not revoked at all', async () => {
    const { announced } = journal();
    expect(Object.keys((await announced()) ?? {})).toEqual(['beforeFirstByte']);
  });
});

describe('a journal that cannot learn that a request did not begin', () => {
  it('if its disk fails, the error says that nothing was sent', async () => {
    const { announced } = journal(new Psd2Error('config', 'The disk is full', { hint: 'Free some space.' }));
    const error = await (await announced(REVOKING))?.notBegun?.().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(NeverLeft);
    expect(error).toMatchObject({
      code: 'config',
      message: 'psd2 has sent nothing, but could not write that down: The disk is full',
      hint: 'Free some space.',
    });
  });

  it.each([
    ['another psd2 has taken over the flow', new Psd2Error('overtaken', 'Another one works on it')],
    ['psd2 has a bug', Object.assign(new TypeError('a bug'), { code: 'config' })],
  ])('if %s, the error stays as it is', async (_what, why) => {
    const { announced } = journal(why);
    await expect((await announced(REVOKING))?.notBegun?.()).rejects.toBe(why);
  });
});
