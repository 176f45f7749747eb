import { examples, verb } from '../declare.ts';
import { learned } from './learn/learned.ts';

/** `psd2 bank learn <file>`: asks a bank what its file must say, and writes the file. */
export const learn = verb(
  {
    prints: { what: 'what psd2 has learned of a bank', shape: learned },
    help: `
psd2 asks the bank of the profile what its file must say: which signature, which consents, how customers authorise,
which payment products. It reads no account, and sends no payment: to a product it sends an empty object. It begins
consents that nobody can authorise, and deletes each at once. The certificates and the base URL are the profile's.

psd2 first says what it will ask, and asks you to confirm. --yes confirms in advance. The exit code is 0 if a consent could be begun,
and 3 if the customers of the bank can only give psd2 PIN and TAN, and the profile does not allow it.

${examples('psd2 --profile mybank bank learn mybank.json', 'psd2 --profile mybank bank learn mybank.json --extends redsys --account DE89370400440532013000 --yes').trimStart()}`,
  },
  (command) =>
    command
      .argument('<file>', 'path of the bank file to write. If it exists, psd2 says what has changed')
      .option(
        '--extends <platform>',
        'platform or bank file that the new file extends (default: the standard)',
      )
      .option('--account <reference>', 'account of a customer, to ask for a consent for that account')
      .option(
        '--psu-id <id>',
        "a customer's id at the bank. The bank may ask that customer, for example in its app",
      ),
  async (context, file, options) => {
    const { learnBank } = await import('./learn/run.ts');
    await learnBank(context, file, options);
  },
);
