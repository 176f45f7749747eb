import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { logIn, useSandbox } from '../e2e/support/psd2.ts';
import { BACKENDS } from './backends.ts';
import { ACCOUNT } from './bank.ts';
import { killedAt, someOf, useHome } from './killed-commands.ts';

const ANNA = '1048262';
const FOLDERS = ['stores', 'flows', 'tokens', 'audit', 'audit-begun', 'log', 'sync-folders'];
const ORDER = [
  ...['transfer', 'create', '--json', '--yes', '--from', ACCOUNT, '--to', 'DE89370400440532013000'],
  ...['--name', 'Ada Lovelace', '--amount', '2.00', '--description', 'of anna', '--reference'],
];
const transfers = z.array(z.looseObject({ customerId: z.string(), amount: z.string() }));
const PATTERN = '^(?:before|half|after) (?!.*sandbox)(?:.* (?:flows|tokens|audit|log|\\.\\.)|.*psd2\\.)';

describe.each(BACKENDS)('with a store in %s', (backend) => {
  const operator = useSandbox();
  const home = useHome(operator, backend);

  /** All that the store and this machine keep of psd2's own. */
  function everything(): string {
    const files = readdirSync(operator.config, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => !path.startsWith(join(operator.config, 'sandbox')))
      .map((path) => `${path}\n${readFileSync(path, 'utf8')}`);
    const tables = home.sql("select tablename from pg_tables where schemaname = 'psd2'")?.split('\n') ?? [];
    return [...files, ...tables.map((table) => home.sql(`select * from psd2.${table}`))].join('\n');
  }
  const succeeds = async (...args: string[]) => {
    const ended = await operator.psd2(args);
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
  };

  // Forgetting a customer with a login, a consent, a payment and synced rows takes about so many steps.
  it.each(someOf(Array.from({ length: 60 }, (_, index) => 1 + index * 3)))(
    'a customer forgotten, killed at step %i and again, leaves no trace, and one pseudonym',
    async (nth) => {
      await home.empty(FOLDERS, '--plain-tokens');
      await logIn(operator);
      await succeeds(...ORDER, `${backend}, step ${nth}`);
      await succeeds('sync', '--unattended-reads', '9999', '--out', join(operator.folder, 'out'));

      const forget = ['customer', 'forget', ANNA, '--yes', '--json'];
      await killedAt(operator, forget, [PATTERN, nth]);
      // Ten seconds later, nobody holds the claims of the killed process.
      home.sql('update psd2.claims set until = clock_timestamp()');
      const again = await operator.psd2(forget, { ownProcess: true });
      expect(again, again.stderr).toMatchObject({ code: 0 });

      const left = everything();
      for (const word of [ANNA, ACCOUNT, 'of anna']) expect(left.includes(word), word).toBe(false);
      const [newest] = await operator.json(transfers, ['transfer', 'list', '--json']);
      expect(newest).toMatchObject({ amount: '2.00', customerId: expect.stringMatching(/^pseudonym-/) });
      const shape = transfers.element.partial().array();
      const [consent] = await operator.json(shape, ['consent', 'list', '--json']);
      expect(consent?.customerId).toBe(newest?.customerId);
      await succeeds('audit', '--verify', '--json');
    },
  );
});
