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
