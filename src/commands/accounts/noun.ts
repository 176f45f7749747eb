import { examples, type Noun } from '../declare.ts';

/** `psd2 accounts`: reads what the customer has at the bank. */
export const accounts: Noun = {
  declare: (command) =>
    command.addHelpText(
      'after',
      examples(
        'psd2 accounts list',
        'psd2 accounts balance 0010482620',
        'psd2 accounts transactions 0010482620 --from 2026-01-01',
      ),
    ),
  commands: {
    list: {
      description: "list the customer's accounts, cards and deposits",
      load: async () => (await import('./list.ts')).list,
    },
    show: {
      description: 'show the details of an account, as the bank gives them',
      load: async () => (await import('./show.ts')).show,
    },
    balance: {
      description: 'show the balances of an account',
      load: async () => (await import('./balance.ts')).balance,
    },
    transactions: {
      description: 'list the transactions of an account, in the order of the bank',
      load: async () => (await import('./transactions.ts')).transactions,
    },
    report: {
      description: 'write an HTML report: balance over time, totals by month, largest counterparties',
      load: async () => (await import('./report.ts')).report,
    },
    export: {
      description: 'write booked transactions to a file for a spreadsheet or an accounting program',
      load: async () => (await import('./export.ts')).exportBookings,
    },
  },
};
