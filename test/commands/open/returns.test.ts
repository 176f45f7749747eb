import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { ClientCredentials } from '../../../src/bank/ports/customer.ts';
import { openAccessNotes } from '../../../src/commands/open/call-records.ts';
import { returnPortsOf } from '../../../src/commands/open/returns.ts';
import { paymentHolder } from '../../../src/domain/identifiers.ts';
import type { StoreFolder } from '../../../src/store/machine/folder.ts';
import type { StoredTokens, Tokens } from '../../../src/store/ports/tokens.ts';
import type { Questions } from '../../../src/terminal/prompts.ts';
import { newConfigFolder, temporaryFolder } from '../../store/temporary-folder.ts';
import { storeLogin } from '../access.ts';
import { openCommand } from '../command.ts';

const temporary = temporaryFolder();
const NOW = '2026-03-01T00:00:00.000Z';
const PAYMENT = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
const STATE = 'state-of-this-login';
const PORT = 'http://127.0.0.1:8910/callback';
const GRANTED: StoredTokens = {
  ...{ accessToken: 'new', refreshToken: null, accessTokenExpiresAt: null },
  ...{ refreshTokenExpiresAt: null, scope: null },
};
const REFUSED = { at: NOW, message: 'The bank did not allow it' };
const client = (): ClientCredentials => ({ clientId: 'tpp', clientSecret: 'secret' });

let folder: StoreFolder;
beforeEach(() => {
  folder = newConfigFolder(temporary);
});

async function open({
  paste = false,
  payment,
  operator,
}: {
  paste?: boolean;
  payment?: string;
  operator?: Partial<Questions>;
} = {}) {
  const env = { PSD2_REDIRECT_URI: PORT };
  const command = openCommand(folder, NOW, { env, ...(operator && { operator }) });
  const { context } = command;
  const store = await context.store();
  const { tokens } = store;
  const opened = { client, customerId: 'ada', profile: context.profile(), tokens };
  return { ...command, store, tokens, ports: await returnPortsOf(context, opened, paste, payment) };
}

/** What psd2 keeps of the customer's tokens and of the payment's. */
const kept = async ({ tokens }: { tokens: Tokens }) =>
  Promise.all(
    ['ada', paymentHolder(PAYMENT)].map(async (holder) => (await tokens.read(holder))?.accessToken),
  );

describe('the tokens of a login that comes with the SCA', () => {
  it("are the customer's, and what the bank refused before is forgotten", async () => {
    const { context, store, ports } = await open();
    await storeLogin(context, 'ada');
    const notes = await openAccessNotes(context);
    await notes.callRefused('ada', REFUSED);
    await ports.keepTokens(async () => GRANTED);
    expect(await kept(store)).toEqual(['new', undefined]);
    expect(await notes.hasRefusedCall('ada')).toBe(false);
  });

  it('are for the payment alone that the customer authorises', async () => {
    const { context, store, ports } = await open({ payment: PAYMENT });
    await storeLogin(context, 'ada');
    const notes = await openAccessNotes(context);
    await notes.callRefused('ada', REFUSED);
    await ports.keepTokens(async () => GRANTED);
    expect(await kept(store)).toEqual(['a1', 'new']);
    expect(await notes.hasRefusedCall('ada')).toBe(true);
  });

  it('are asked for only when there is room for them, and the room is given back before they are written', async () => {
    const { tokens, ports } = await open();
    const steps: string[] = [];
    const ready = vi.spyOn(tokens, 'ready').mockImplementation(async () => {
      steps.push('room');
      return async () => void steps.push('given back');
    });
    const write = tokens.change.bind(tokens);
    vi.spyOn(tokens, 'change').mockImplementation((...how) => {
      steps.push('written');
      return write(...how);
    });
    await ports.keepTokens(async () => {
      steps.push('granted');
      return GRANTED;
    });
    expect(steps).toEqual(['room', 'granted', 'given back', 'written']);
    await ports.readyToKeep();
    expect(steps.slice(4)).toEqual(['room', 'given back']);
    ready.mockRejectedValue(new Error('The disk is full'));
    await expect(ports.readyToKeep()).rejects.toThrow('The disk is full');
    await expect(ports.keepTokens(() => Promise.reject(new Error('The code was used up')))).rejects.toThrow(
      'The disk is full',
    );
  });
});

it('with --paste the operator is asked for the address, hidden, until it is the one of this login', async () => {
  const refused: string[] = [];
  const askSecret: Questions['askSecret'] = async (question, check) => {
    expect(question).toBe('The address that the browser ended at');
    for (const wrong of ['x', `${PORT}?state=another`])
      try {
        await check?.(wrong);
      } catch (error) {
        refused.push(String(error));
      }
    return ` ${PORT}?state=${STATE}&code=c1 `;
  };
  const { ports } = await open({ paste: true, operator: { askSecret } });
  expect(Object.fromEntries((await ports.askForReturn?.(STATE)) ?? [])).toEqual({ state: STATE, code: 'c1' });
  expect(refused).toEqual([
    expect.stringContaining('The pasted address is not a URL'),
    expect.stringContaining('The pasted address does not have the state of this login'),
  ]);
  expect((await open()).ports.askForReturn).toBeUndefined();
});

it('what the bank wants the customer to do is said, without what could change the terminal', async () => {
  const { ports, said } = await open();
  ports.say('Confirm in your \u001b[31mapp');
  expect(said()).toBe('Confirm in your \ufffd[31mapp\n');
  expect(ports.client()).toEqual(client());
});
