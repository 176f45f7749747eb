import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { words } from '../../support/words.ts';
import { useSecondDoor } from './second-door-customer.ts';

const PAN = '5254120000003017';
const operator = useSecondDoor(['--variation', 'funds-consents,company-account']);
const ASK = ['consent', 'request', '--category', 'FUNDS_AVAILABILITY', '--json', '--account'];

it('the number of a card is nowhere but at the bank', async () => {
  const file = join(operator.folder, 'card');
  writeFileSync(file, `${PAN}\n`);
  const ended = await operator.psd2([...ASK, `pan:@${file}`, '--card-number', `@${file}`]);
  const confirmed = await operator.psd2(words`funds check --account pan:@${file} --amount 1 --json`);
  expect(confirmed).toMatchObject({ code: 0, stdout: expect.stringContaining('pan:525412******3017') });
  expect(ended.stdout + ended.stderr + confirmed.stderr).not.toContain(PAN);
  const kept = readdirSync(operator.folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile() && each.name !== 'card' && !each.parentPath.includes('sandbox'))
    .filter((each) => readFileSync(join(each.parentPath, each.name)).includes(PAN));
  expect(kept).toEqual([]);
  const inArgument = await operator.psd2([...ASK, `pan:${PAN}`]);
  expect(inArgument).toMatchObject({ code: 2, stderr: expect.not.stringContaining(PAN) });
});
