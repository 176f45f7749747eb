import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sample } from '../../support/sample.ts';
import { giveRegistration, PROGRAM, useOperator, words } from '../support/psd2.ts';

const ACCOUNT = '0010482620';

// 0777 takes all permissions of every new file, 0277 takes the owner's permission to write.
describe.each(sample(['0777', '0277'], 1))('psd2 with the umask %s', (umask) => {
  const operator = useOperator();
  operator.env.PSD2_PROFILE = 'sandbox';
  const place = (name: string) => join(operator.folder, name);

  async function psd2(...args: string[]): Promise<void> {
    const { ended } = await operator.startProgram('bash', [
      ...['-c', `umask ${umask}; exec "$@"`, 'umask', process.execPath, PROGRAM, ...args],
    ]);
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(0);
  }

  beforeAll(() => {
    giveRegistration(operator);
    return psd2('sandbox', 'start', '--detach', '--port', '0');
  });
  afterAll(() => psd2('sandbox', 'stop'));

  it(`with the umask ${umask}, only the owner can read and write the files that psd2 creates`, async () => {
    const sync = words`sync --psu-ip 127.0.0.1 --out ${place('accounts')} --metrics-file ${place('psd2.prom')}`;
    for (const args of [
      words`auth login`,
      words`consent request --category ACCOUNT_INFO --category PAYMENTS --all-accounts`,
      words`accounts export ${ACCOUNT} --format csv --file ${place('export.csv')}`,
      words`accounts report ${ACCOUNT} --file ${place('report.html')}`,
      ...[sync, sync],
      words`cert generate --out ${place('certificates')}`,
      words`transfer create --yes --from ${ACCOUNT} --to DE89370400440532013000 --name Ada --amount 1.00`,
      words`log bundle --file ${place('bundle.json')}`,
    ])
      await psd2(...args);

    const created = ['config', 'accounts', 'certificates'].flatMap((folder) => [
      place(folder),
      ...everythingIn(place(folder)),
    ]);
    const files = ['export.csv', 'report.html', 'bundle.json'].map(place);
    const modes = [...created, ...files].map((path) => [path, modeOf(path)]);
    expect(modes.length).toBeGreaterThan(20);
    expect(modes).toEqual(
      [...created, ...files].map((path) => [path, statSync(path).isDirectory() ? 0o700 : 0o600]),
    );
    // The collector of the metrics is another user.
    expect(modeOf(place('psd2.prom'))).toBe(0o644);
  });
});

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}

function everythingIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).map(({ parentPath, name }) =>
    join(parentPath, name),
  );
}
