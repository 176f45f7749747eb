import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../store/temporary-folder.ts';
import { blocksOf } from './pages.ts';

const folder = temporaryFolder();
const examples = (language: string) =>
  blocksOf('docs/smoke.md')
    .filter((block) => block.language === language)
    .map(({ text }) => text);

describe('the page about smoke tests', () => {
  it('systemd accepts the service and the timer, which comes every five minutes', () => {
    const [service = '', timer = ''] = examples('ini');
    const unit = (name: string) => join(folder, name);
    writeFileSync(unit('psd2-smoke.service'), service.replace('/usr/local/bin/psd2', process.execPath));
    writeFileSync(unit('psd2-smoke.timer'), timer);
    const args = ['verify', '--man=no', '--recursive-errors=no'];
    const units = [unit('psd2-smoke.service'), unit('psd2-smoke.timer')];
    const { status, stderr } = spawnSync('systemd-analyze', [...args, ...units], { encoding: 'utf8' });
    expect({ status, said: stderr.split('\n').filter((line) => line.includes('psd2-smoke')) }).toEqual({
      ...{ status: 0, said: [] },
    });
    const [, calendar = ''] = /^OnCalendar=(.*)$/m.exec(timer) ?? [];
    const next = execFileSync('systemd-analyze', ['calendar', '--iterations=13', calendar], {
      encoding: 'utf8',
    });
    const minutes = [...next.matchAll(/\d\d:(\d\d):00 UTC/g)].map(([, minute]) => Number(minute) % 5);
    expect(minutes.length).toBeGreaterThanOrEqual(13);
    expect(new Set(minutes)).toEqual(new Set([0]));
  });

  it('a shell accepts the commands of the crontab', () => {
    const lines = (examples('crontab')[0] ?? '').split('\n').filter((line) => /^[\d*]/.test(line));
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      const [, times = '', command = ''] = /^((?:\S+ +){5})(.*)$/.exec(line) ?? [];
      expect(times.trim().split(/ +/)).toHaveLength(5);
      const checked = spawnSync('shellcheck', ['--shell=sh', '-'], {
        input: `${command}\n`,
        encoding: 'utf8',
      });
      expect([checked.status, checked.stdout]).toEqual([0, '']);
      // In a crontab, a percent sign ends the command.
      expect(command).not.toContain('%');
    }
  });
});
