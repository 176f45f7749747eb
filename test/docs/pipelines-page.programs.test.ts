import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { validate } from 'dockerfile-utils';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../store/temporary-folder.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGE = readFileSync(join(ROOT, 'docs/pipelines.md'), 'utf8');
const folder = temporaryFolder();

/** The example under a heading. @param n its number, if there are several */
function example(heading: string, language: string, n = 0): string {
  const [, section = ''] = PAGE.split(`\n## ${heading}\n`);
  const [inside = ''] = section.split('\n## ');
  const found = [...inside.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))][n]?.[1];
  if (found === undefined) throw new Error(`There is no example of ${language} under ${heading}`);
  return found;
}

/** What shellcheck finds in a script. */
function shellcheck(script: string): string {
  return spawnSync('shellcheck', ['--shell=sh', '-'], { input: script, encoding: 'utf8' }).stdout;
}

describe('the page about pipelines', () => {
  it('a builder accepts the image on the page, whose user is not root', () => {
    const dockerfile = example('A container image', 'dockerfile');
    expect(validate(dockerfile)).toEqual([]);
    const instructions = dockerfile.split('\n').filter((line) => /^[A-Z]/.test(line));
    const at = (start: string) => instructions.findIndex((line) => line.startsWith(start));
    expect(at('USER node')).toBeGreaterThan(at('RUN'));
    expect(at('ENTRYPOINT')).toBeGreaterThan(at('USER node'));
    expect(dockerfile).toMatch(/^VOLUME \/state$/m);
    expect(dockerfile).toContain('PSD2_CONFIG_DIR=/state/');
  });

  it('systemd accepts the service and the timer on the page', () => {
    mkdirSync(join(folder, 'units'), { recursive: true });
    const unit = (name: string) => join(folder, 'units', name);
    const service = example('systemd', 'ini').replace('/usr/local/bin/psd2', process.execPath);
    writeFileSync(unit('psd2-sync.service'), service);
    writeFileSync(unit('psd2-sync.timer'), example('systemd', 'ini', 1));
    const { status, stderr } = spawnSync(
      'systemd-analyze',
      ['verify', '--man=no', '--recursive-errors=no', unit('psd2-sync.service'), unit('psd2-sync.timer')],
      { encoding: 'utf8' },
    );
    expect({ status, said: stderr.split('\n').filter((line) => line.includes('psd2-sync')) }).toEqual({
      status: 0,
      said: [],
    });
    const [, calendar = ''] = /^OnCalendar=(.*)$/m.exec(example('systemd', 'ini', 1)) ?? [];
    const next = execFileSync('systemd-analyze', ['calendar', '--iterations=4', calendar], {
      encoding: 'utf8',
    });
    expect([...next.matchAll(/\d\d:15:00 UTC/g)].length).toBeGreaterThanOrEqual(4);
  });

  it('a shell accepts the commands of the crontab on the page', () => {
    const lines = example('cron', 'crontab')
      .split('\n')
      .filter((line) => /^[\d*]/.test(line));
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      const [, times = '', command = ''] = /^((?:\S+ +){5})(.*)$/.exec(line) ?? [];
      expect(times.trim().split(/ +/)).toHaveLength(5);
      expect(shellcheck(`${command}\n`)).toBe('');
      // In a crontab, a percent sign ends the command.
      expect(command).not.toContain('%');
    }
  });
});
