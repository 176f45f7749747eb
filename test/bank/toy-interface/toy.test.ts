import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import * as z from 'zod/mini';
import { Psd2Error } from '../../../src/errors.ts';
import { control } from '../../../src/sandbox/control/control-client.ts';
import { readSeed } from '../../../src/sandbox/seed/read-seed.ts';
import { runIn } from '../../commands/command.ts';
import { useOperatorHere } from '../../commands/operator.ts';
import { openTestBank } from '../../sandbox/tpp.ts';
import { temporaryFolder } from '../../store/temporary-folder.ts';
import { freePort } from '../../support/free-port.ts';
import { ToyDoor } from './door.ts';
import { register } from './register.ts';

// A third interface registers itself in three places. Everything else of psd2 runs with it as it is: psd2 sends the last call, though
// links lead the customer, and each payment has a token of its own.

const door = new ToyDoor();
afterAll(register(door));

const operator = useOperatorHere();

const bankFile = join(temporaryFolder(), 'toy-bank.json');
writeFileSync(bankFile, JSON.stringify({ interface: 'toy', name: 'Toy bank' }), { mode: 0o600 });

/** Runs a command with a customer who says yes to the link that psd2 gives them. */
async function run(words: string[]): Promise<{ printed: string; failure: unknown }> {
  const { baseUrl } = operator.bank.sandbox;
  const env = {
    ...{ PSD2_BANK: bankFile, PSD2_BASE_URL: `${baseUrl}/toy`, PSD2_BROWSER: 'none' },
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

beforeAll(async () => {
  expect((await run(['consent', 'request', '--all-accounts'])).failure).toBeNull();
});

it('reads with the token of the login for a consent', async () => {
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

it('has its state, its seed and its place in the console', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'psd2-toy-'));
  const seed = join(folder, 'seed.json');
  const tara = { user: 'tara', accounts: [{ kind: 'current' }], toyToken: 'a-toy' };
  writeFileSync(seed, JSON.stringify({ customers: [tara] }));
  const first = await openTestBank({ state: folder, seed: await readSeed(seed, 0) });
  const list = async ({ tpp }: typeof first) =>
    (await tpp.send({ path: '/toy/accounts', token: 'a-toy' })).json;
  expect(await list(first)).toMatchObject({ accounts: [{ id: expect.any(String) }] });
  await first.close();

  const again = await openTestBank({ state: folder });
  const { running } = again.sandbox;
  expect(await list(again)).toMatchObject({ accounts: [{ id: expect.any(String) }] });
  const flows = await fetch(`${running.customerSiteUrl}/console/flows`);
  expect(await flows.json()).toMatchObject({
    doors: {
      cb: {},
      nextgenpsd2: {},
      toy: { title: 'Toy', consents: [{ customer: 'tara', status: 'authorised' }] },
    },
  });
  await control(running, { method: 'POST', path: '/customers/tara/reset' }, z.looseObject({}));
  expect(await list(again)).toEqual({ error: 'token' });
  await again.close();
  rmSync(folder, { recursive: true });
});
