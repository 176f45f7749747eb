import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import * as z from 'zod';
import { freePort } from '../../support/free-port.ts';
import { CUSTOMER, useOperator } from '../support/psd2.ts';

// No telemetry: this test records each connection of each psd2 process, from login to a settled payment.

const RECORDER = fileURLToPath(new URL('../support/record-connections.cjs', import.meta.url));
const recorded = z.object({ command: z.array(z.string()), kind: z.string(), target: z.string() });
const operator = useOperator();
afterAll(async () => {
  await operator.psd2(['sandbox', 'stop']);
});

it('psd2 connects to the bank, and to nothing else', async () => {
  const file = join(operator.folder, 'connections.ndjson');
  const port = await freePort();
  const callback = `127.0.0.1:${await freePort()}`;
  Object.assign(operator.env, {
    NODE_OPTIONS: `--require ${RECORDER}`,
    RECORDED_CONNECTIONS: file,
    PSD2_PROFILE: 'sandbox',
    PSD2_BROWSER: CUSTOMER,
    PSD2_REDIRECT_URI: `http://${callback}/callback`,
  });
  const start = ['sandbox', 'start', '--detach', '--port', String(port)];
  const started = await operator.json(z.object({ baseUrl: z.url(), customerSiteUrl: z.url() }), start);
  const bank = new URL(started.baseUrl).host;
  const site = new URL(started.customerSiteUrl).host;
  const order = ['--to', 'DE89370400440532013000', '--name', 'Ada Lovelace', '--amount', '12.50'];
  for (const args of [
    ['auth', 'login'],
    ['auth', 'refresh'],
    ['consent', 'request', '--category', 'ACCOUNT_INFO', '--category', 'PAYMENTS', '--all-accounts'],
    ['accounts', 'list'],
    ['accounts', 'transactions', '0010482620'],
    ['transfer', '--instant', '--payee-verified', '--yes', '--from', '0010482620', ...order],
    ['log'],
    ['--help'],
    ['acounts'],
  ]) {
    const { code, stderr } = await operator.psd2(args);
    expect(code, stderr).toBe(args[0] === 'acounts' ? 2 : 0);
  }
  await operator.succeeds(['sandbox', 'stop', '--json']);

  const all = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => recorded.parse(JSON.parse(line)));
  const targets = (isWanted: (command: string) => boolean) => [
    ...new Set(
      all.filter(({ command }) => isWanted(command.join(' '))).map(({ kind, target }) => `${kind} ${target}`),
    ),
  ];
  expect(targets((command) => !command.startsWith('sandbox'))).toEqual([`connect ${bank}`]);
  // This process plays the customer's browser.
  expect(targets((command) => command.startsWith('sandbox customer')).sort()).toEqual(
    [`connect ${callback}`, `connect ${site}`].sort(),
  );
});
