import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { readError } from '../support/errors.ts';
import { keepRunning, readDocument, useLoggedIn, words } from '../support/psd2.ts';
import * as shapes from '../support/shapes.ts';

const operator = keepRunning(useLoggedIn());
const ORDER = words`transfer create --yes --from 0010482620 --to DE89370400440532013000 --name
  ${'Ada Lovelace'} --amount 1.00`;
const transfer = (...options: string[]) => operator.json(shapes.transfer, [...ORDER, ...options]);

let copies = 0;
/** A copy of the operator's configuration folder, for a test to damage. */
function copyConfig(): string {
  copies += 1;
  const config = join(operator.folder, `copy-${copies}`);
  cpSync(operator.config, config, { recursive: true });
  return config;
}

const read = (config: string, args: string[]) =>
  operator.psd2([...args, '--json'], { env: { PSD2_CONFIG_DIR: config, PSD2_PROFILE: undefined } });

describe('one damaged journal', () => {
  const journal = (flow: string, config = operator.config) =>
    join(config, 'flows', 'sandbox', `${flow}.ndjson`);
  const flows = { damaged: '', resource: '', other: '' };
  beforeAll(async () => {
    const first = await transfer('--reference', 'INV-1');
    const second = await transfer('--reference', 'INV-2');
    Object.assign(flows, { damaged: first.flow, resource: first.resourceId, other: second.flow });
  });

  /** A copy in which one line of the flow's journal is damaged. */
  function damageLine(number: number): string {
    const config = copyConfig();
    const path = journal(flows.damaged, config);
    const lines = readFileSync(path, 'utf8').split('\n');
    lines[number - 1] = '{"at":"garbage"}';
    writeFileSync(path, lines.join('\n'));
    return config;
  }

  it('psd2 names the damaged journal and its line, and lists, shows and pays the other flows', async () => {
    const config = damageLine(3);
    const path = journal(flows.damaged, config);
    const listed = await read(config, ['transfer', 'list']);
    expect(listed.code).toBe(0);
    expect(readDocument(shapes.transfers, listed.stdout).map(({ flow }) => flow)).toEqual([flows.other]);
    expect(listed.stderr).toContain(`The journal ${path} is damaged at line 3`);
    expect(await read(config, ['transfer', 'show', flows.other])).toMatchObject({ code: 0 });
    expect(await read(config, ['transfer', 'resume', flows.other, '--yes'])).toMatchObject({ code: 0 });
    for (const reference of [flows.damaged, flows.damaged.slice(0, -1), flows.resource]) {
      expect(readError(await read(config, ['transfer', 'show', reference]))).toMatchObject({
        code: 'config',
        exitCode: 3,
        message: `The journal ${path} is damaged at line 3`,
      });
    }
    expect(await read(config, [...ORDER, '--reference', 'INV-3'])).toMatchObject({ code: 0 });
    expect(readError(await read(config, ['profile', 'remove', 'sandbox', '--yes']))).toMatchObject({
      exitCode: 3,
      message: `The journal ${path} is damaged at line 3`,
    });
  });

  it.each([
    ['asks for its outcome', /"executed"/, 'does not have the line with its resource at the bank'],
    [
      'waits for its customer',
      /"(?:executed|execute-sent|authorization|sca-returned)"/,
      'is older than what psd2 knows',
    ],
  ])(
    'psd2 does not resume a journal without the line of its resource, where the flow %s',
    async (_, later, what) => {
      const config = copyConfig();
      const path = journal(flows.damaged, config);
      const whole = readFileSync(path, 'utf8').split('\n');
      const lines = whole.filter((line) => !later.test(line) && !line.includes('"verified"'));
      const resume = async () =>
        readError(await read(config, ['transfer', 'resume', flows.damaged, '--yes']));
      writeFileSync(path, lines.join('\n'));
      expect(await resume()).toMatchObject({
        code: 'config',
        exitCode: 3,
        message: `The journal ${path} is damaged at line 3`,
      });
      // As if no line was missing.
      writeFileSync(
        path,
        lines.map((line, index) => line.replace(/"n":\d+,/, `"n":${index + 1},`)).join('\n'),
      );
      expect(await resume()).toMatchObject({
        code: 'config',
        exitCode: 3,
        message: expect.stringContaining(what),
      });
    },
  );

  it('a journal whose reference cannot be read blocks every reference, but no transfer without one', async () => {
    const config = damageLine(1);
    rmSync(join(config, 'flows', 'sandbox', 'index'));
    expect(readError(await read(config, [...ORDER, '--reference', 'INV-4']))).toMatchObject({
      code: 'config',
      exitCode: 3,
      message: `The journal ${journal(flows.damaged, config)} is damaged at line 1, so psd2 cannot tell which reference ${flows.damaged} has`,
    });
    expect(await read(config, ORDER)).toMatchObject({ code: 0 });
  });
});
