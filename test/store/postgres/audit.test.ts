import { expect, it } from 'vitest';
import { checkChain } from '../../../src/store/audit/chain.ts';
import { useStores } from './stores.ts';

const stores = useStores('roles');

it('no role may change, remove or write lines of the audit log: workers may only append through the database', async () => {
  await stores.init({ roles: true });
  const { audit } = stores.worker({ isPlain: true }).open('bank');
  await audit.append({ action: 'exported', customerId: '1000001', about: 'csv "1"' });
  await audit.append({ action: 'logged-out' });
  const may = (role: string, right: string) =>
    ['audit', 'audit_heads', 'audit_beginnings', 'pseudonyms'].map((table) =>
      stores.sql(`select has_table_privilege('${role}', 'psd2.${table}', '${right}')`),
    );
  for (const right of ['insert', 'update', 'delete', 'truncate']) {
    expect(may('psd2_worker', right)).toEqual(['f', 'f', 'f', 'f']);
    expect(may('psd2_reader', right)).toEqual(['f', 'f', 'f', 'f']);
  }
  expect(may('psd2_worker', 'select')).toEqual(['t', 't', 't', 't']);
  for (const statement of [
    "update psd2.audit set line = ''",
    'delete from psd2.audit',
    'truncate psd2.audit',
  ])
    expect(() => stores.sql(statement)).toThrow('the audit log of psd2 can only grow');
  expect(() => stores.sql("set role psd2_worker; select psd2.audit_keep('bank', 9, now(), 'x')")).toThrow(
    'permission denied',
  );
  expect(await checkChain(audit.lines(), await audit.head())).toMatchObject({ lines: 2, broken: null });
  // Whoever owns the table can still do it, but not unseen.
  stores.sql('alter table psd2.audit disable trigger all; delete from psd2.audit where n = 2');
  expect((await checkChain(audit.lines(), await audit.head())).broken).not.toBeNull();
  stores.sql('delete from psd2.audit; delete from psd2.audit_heads');
  await audit.append({ action: 'logged-out' });
  const { lines, broken } = await checkChain(audit.lines(), await audit.head(), await audit.beginning());
  expect([lines, broken?.why]).toEqual([1, 'all lines before the first one were removed']);
});
