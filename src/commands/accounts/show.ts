import { examples, verb } from '../declare.ts';
import { BANK_DATA, showBankData } from '../shared/bank-data.ts';
import { openAccount } from './account.ts';

export const show = verb(
  { prints: BANK_DATA, help: examples('psd2 accounts show 0010482620 --json'), kind: 'inquiry' },
  (command) => command.argument('<account>'),
  async (context, product) => {
    const productId = await openAccount(context, product);
    await showBankData(context, (customerId) => ({ what: 'product', customerId, productId }));
  },
);
