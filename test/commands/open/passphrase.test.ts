import { expect, it } from 'vitest';
import { WrongPassphrase } from '../../../src/certificates/key-pair.ts';
import { openKeyRing } from '../../../src/commands/open/keys.ts';
import { useCommands } from '../../cli/in-process.ts';

const { run, said } = useCommands();

it('psd2 asks three times for the passphrase of a key, and then gives up', async () => {
  let asked = 0;
  await run(async (context) => {
    const askSecret = async () => {
      asked += 1;
      return 'wrong';
    };
    const terminal = { ...context.terminal, canAsk: true, askSecret };
    const ring = openKeyRing({ ...context, terminal }, { name: 'bank', settings: {} });
    await ring.opening('the QWAC key', () => {
      throw new WrongPassphrase('certificate', 'The passphrase does not open the QWAC key');
    });
  });
  expect(said()).toContain('The passphrase does not open the QWAC key');
  expect(process.exitCode).toBe(3);
  expect(asked).toBe(3);
});
