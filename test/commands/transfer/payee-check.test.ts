import { expect, it } from 'vitest';
import { checkPayee } from '../../../src/commands/transfer/payee-check.ts';
import { parseSepaIban } from '../../../src/domain/order/iban.ts';
import { useCommands } from '../../cli/in-process.ts';

const { run } = useCommands();

it('Ctrl-C during the payee check ends the command, and is not taken for a check that was not possible', async () => {
  const payee = { to: parseSepaIban('DE89370400440532013000'), name: 'Ada Lovelace' };
  await run(async (context) => {
    process.emit('SIGINT');
    await checkPayee(context, 'true', payee);
  });
  expect(process.exitCode).toBe(130);
});

it.each([
  ['{"result":"none","result":"match"}', 'unavailable'],
  [String.raw`{"result":"none","\u0072esult":"match"}`, 'unavailable'],
  ['{"result":"close","name":"Ada","name":"Bob"}', 'unavailable'],
  ['{"result":"match","more":{"result":"none"},"text":"\\"result\\":"}', 'match'],
])('of %s, the result is %s: of two answers, nobody knows which one counts', async (printed, expected) => {
  const payee = { to: parseSepaIban('DE89370400440532013000'), name: 'Ada Lovelace' };
  let result = '';
  await run(async (context) => {
    ({ result } = await checkPayee(context, `printf %s '${printed}'`, payee));
  });
  expect(result).toBe(expected);
});
