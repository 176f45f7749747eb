import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { DESCRIPTIONS } from '../../../src/bank/descriptions.ts';
import { INTERFACES } from '../../../src/bank/open.ts';
import { Psd2Error } from '../../../src/errors.ts';
import { DOORS } from '../../../src/sandbox/doors.ts';
import { runIn } from '../../commands/command.ts';
import { useOperatorHere } from '../../commands/operator.ts';
import { freePort } from '../../support/free-port.ts';
import { toyDescription } from './description.ts';
import { ToyDoor } from './door.ts';
import { toyInterface } from './interface.ts';

// A third interface registers itself in three places. Everything else of psd2 runs with it as it is: psd2 sends the last call, though
// links lead the customer, and each payment has a token of its own.

const door = new ToyDoor();
beforeAll(() => {
  DESCRIPTIONS.toy = () => toyDescription;
  INTERFACES.toy = async () => toyInterface;
  DOORS.set('toy', { open: door.open });
});
afterAll(() => {
  delete DESCRIPTIONS.toy;
  delete INTERFACES.toy;
  DOORS.delete('toy');
});

const operator = useOperatorHere();

/** Runs a command with a customer who says yes to the link that psd2 gives them. */
async function run(words: string[]): Promise<{ printed: string; failure: unknown }> {
  const { baseUrl } = operator.bank.sandbox;
  const env = {
    ...{ PSD2_BANK: 'toy-bank', PSD2_BASE_URL: `${baseUrl}/toy`, PSD2_BROWSER: 'none' },
    PSD2_REDIRECT_URI: `http://127.0.0.1:${await freePort()}/callback`,
  };
  const command = operator.open({ env, globals: { yes: true } });
  let isOver = false;
  const work = runIn(command.context, ...words)
    .then(() => null)
    .catch((error: unknown) => error)
    .finally(() => {
      isOver = true;
    });
  const approve = async () => {
    const link = await vi.waitFor(
      () => {
        if (isOver) return undefined;
        return new URL(/http:\S+toy\?request=\S+/.exec(command.said())?.[0] ?? '');
      },
      { timeout: 20_000, interval: 5 },
    );
    if (!link) return;
    const back = door.approve(link.searchParams.get('request') ?? '', operator.idOf('anna'));
    await fetch(back);
  };
  await Promise.all([work, approve()]);
  return { printed: command.printed(), failure: await work };
}

const flowOf = (error: unknown) => (error instanceof Psd2Error && error.context.flow) || 'none';
const PAY = ['transfer', 'create', '--to', 'DE89370400440532013000', '--name', 'Ada', '--payee-verified'];

it('asks for a consent, and reads with the token of its login', async () => {
  expect((await run(['consent', 'request', '--all-accounts'])).failure).toBeNull();
  const { printed, failure } = await run(['accounts', 'list']);
  expect(failure).toBeNull();
  const [account] = JSON.parse(printed);
  const balance = await run(['accounts', 'balance', account.accountId]);
  expect([balance.failure, JSON.parse(balance.printed)]).toMatchObject([null, { accountBalance: {} }]);
});

it('pays: the customer authorises by the link, and psd2 executes with the token of this payment', async () => {
  const { printed } = await run(['accounts', 'list']);
  const [{ accountId }] = JSON.parse(printed);
  door.calls.length = 0;
  const paid = await run([...PAY, '--amount', '12.50', '--from', accountId, '--reference', 'T-1']);
  expect(paid.failure).toBeNull();
  expect(JSON.parse(paid.printed)).toMatchObject({ state: 'executed', cro: expect.stringMatching(/^toy-/) });
  expect(door.calls.filter((call) => call.startsWith('POST'))).toEqual([
    'POST /toy/payments',
    'POST /toy/token',
    'POST /toy/payments/{id}/execution',
  ]);
});

it('finds out what became of a payment whose execution had no answer, and never sends it again', async () => {
  const { printed } = await run(['accounts', 'list']);
  const [{ accountId }] = JSON.parse(printed);
  door.calls.length = 0;
  door.loses.push('POST /toy/payments/{id}/execution', ...Array(9).fill('GET /toy/payments/{id}'));
  const lost = await run([...PAY, '--amount', '3', '--from', accountId, '--reference', 'T-2']);
  expect(lost.failure).toBeInstanceOf(Psd2Error);
  expect(lost.failure).toMatchObject({ code: 'outcome_unknown' });
  door.loses.length = 0;
  const again = await run(['transfer', 'resume', flowOf(lost.failure)]);
  expect([again.failure, JSON.parse(again.printed)]).toMatchObject([null, { state: 'executed' }]);
  expect(door.calls.filter((call) => call.endsWith('execution'))).toHaveLength(1);
});
