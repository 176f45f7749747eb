// Adds consents to the record of a customer. argv[2] is the configuration folder, argv[3] the prefix of the flows, argv[4] how many.
// test/crash/stalled-customer.test.ts bundles and starts this program.
import { FileCustomers } from '../../src/store/files/customers.ts';
import { storeFolder } from '../../src/store/machine/folder.ts';

const [, , root, prefix, times] = process.argv;
const customers = new FileCustomers(storeFolder(root), 'bank', new URL('https://bank.example'));
for (let number = 1; number <= Number(times); number += 1)
  await customers.change('ada', ({ psu, consents }) => ({
    psu,
    consents: [
      ...consents,
      {
        ...{
          flow: `${prefix}-${number}`,
          consentId: 'c',
          accounts: null,
          reads: ['accounts'],
          validUntil: null,
        },
        ...{ recurring: true, frequencyPerDay: 4, grantedAt: '2026-11-21T10:00:00Z' },
      },
    ],
  }));
