import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { logIn, useSandbox } from '../support/psd2.ts';

const operator = useSandbox();
const registered = (name: string) => join(operator.config, 'sandbox', 'certificates', name);

describe('a certificate that changes while psd2 sync --every runs', () => {
  it('the next round uses it without a restart, and a wrong key leaves the old one in use', async () => {
    await logIn(operator, 'given');
    const made = join(operator.folder, 'foreign');
    await operator.psd2(['cert', 'generate', '--out', made, '--json']);
    const use = async (...args: string[]) => {
      const ended = await operator.psd2(['profile', 'set', 'sandbox', ...args, '--json']);
      expect(ended, ended.stderr).toMatchObject({ code: 0 });
    };
    const out = join(operator.folder, 'synced');
    const worker = await operator.start([
      ...['sync', '--all-customers', '--unattended-reads', '9999', '--out', out, '--every', '1s'],
      ...['--psu-ip', '203.0.113.7', '--json'],
    ]);
    await worker.prints(/A round has ended: 1 of 1/);
    // A certificate that the bank does not know: the sync shows that it uses it.
    await use('--qwac-cert', join(made, 'qwac.pem'), '--qwac-key', join(made, 'qwac-key.pem'));
    await worker.prints(
      /The certificates have changed\. psd2 uses the new ones.*\n(.*\n)*?.*A round has ended: 0 of 1/,
    );
    await use('--qwac-cert', registered('next-qwac.pem'), '--qwac-key', registered('next-qwac-key.pem'));
    await worker.prints(/(The certificates have changed\. (.*\n)*?.*){2}A round has ended: 1 of 1/);
    // Paths count too, and the key must fit.
    const path = join(operator.folder, 'qwac-key.pem');
    copyFileSync(registered('qwac-key.pem'), path);
    await use('--reference', '--qwac-cert', registered('qwac.pem'), '--qwac-key', path);
    await worker.prints(/(The certificates have changed\. psd2 uses (.*\n)*?.*){3}A round has ended: 1 of 1/);
    copyFileSync(registered('next-qwac-key.pem'), path);
    await worker.prints(/psd2 still uses the old ones.*\n(.*\n)*?.*A round has ended: 1 of 1/);
    worker.kill('SIGTERM');
    const ended = await worker.ended;
    expect(ended.code, ended.stderr).toBe(0);
  });
});
