import { type Command, Option } from '@commander-js/extra-typings';
import { PAYEE_SOURCES } from '../../domain/order/payee-check.ts';
import { collect, declareCancel, declareResolve, examples, optionsOf, type Run } from '../declare.ts';

const RESOLVE_NOTE = `For a transfer that psd2 resume does not find the end of: unknown or executing, or an instant one that stays PENDING.
The command asks the bank once more first. If the bank's answer decides, that counts. Otherwise the command shows the
transfer, asks for a yes, and writes into the journal who said what, when and why. It sends nothing that moves money.

End every psd2 that still works on the transfer first, also one that was stopped with Ctrl-Z. Look at the account
statement of the execution day and of the days after it.`;

const CREATE_NOTE = `
On a terminal the command asks for what is missing: the account from a list with balances, the beneficiary, the IBAN and the
amount, each checked as you type. Elsewhere, and with --no-input, all that is missing is named at once.

The command shows what the bank verified and asks before the customer is sent to authorise.
In a pipeline --yes gives that confirmation beforehand.

A --reference is refused that an earlier transfer has which did not plainly fail, also when that one's journal
is damaged; and every --reference while a damaged journal can't tell which one it has.

Exit codes that matter to a script: 6 the customer did not authorise, 8 the payment failed,
9 its outcome is not known yet ("psd2 transfer resume <flow>" finds out and never pays again).

Examples:
  $ psd2 transfer --from 0012345678 --to DE89370400440532013000 --name "Ada Lovelace" --amount 12.50
  $ psd2 transfer --instant --payee-verified --yes --json --from 0012345678 \\
      --to DE89370400440532013000 --name "Ada Lovelace" --amount 12.50 --reference INV-1 | jq -r .cro`;

/** `psd2 transfer`: its verbs, in the order of a payment. */
export function declareTransfer(transfer: Command, run: Run): void {
  const create = declareCreate(transfer, run);
  transfer
    .usage('[create] [options]')
    .addHelpText('after', (help) => optionsOf(create, help))
    .addHelpText(
      'after',
      '\n`psd2 transfer --instant ...` is `psd2 transfer create --instant ...`.\n' +
        examples(
          'psd2 transfer --from 0012345678 --to DE89370400440532013000 --name "Ada Lovelace" --amount 12.50',
          'psd2 transfer list',
        ),
    );
  declarePrepare(transfer, run);
  declareList(transfer, run);
  declareShowAndStatus(transfer, run);
  declareResume(transfer, run);
  declareCancel(
    transfer,
    { kind: 'a transfer', sent: 'execute', example: 'psd2 transfer cancel tr-0mwq9zj41' },
    (flow) => run(async (context) => (await import('./cancel.ts')).transferCancel(context, flow)),
  );
  declareTransferResolve(transfer, run);
  declareReceipt(transfer, run);
}

function declareCreate(transfer: Command, run: Run) {
  return transfer
    .command('create', { isDefault: true })
    .description(
      'make a transfer: verified by the bank, confirmed by you, authorised by the customer, executed',
    )
    .option('--from <productId>', 'the account to debit (required, or asked)')
    .option('--to <iban>', "the beneficiary's IBAN (required, or asked)")
    .option('--name <text>', "the beneficiary's name (required, or asked)")
    .option('--amount <decimal>', 'with a point, for example 12.50 (required, or asked)')
    .option('--currency <code>', 'EUR', 'EUR')
    .option('--description <text>', 'the remittance information, at most 140 characters')
    .option('--instant', 'an SCT Instant payment: settled within ten seconds, and final')
    .option('--date <date>', "execution day, YYYY-MM-DD; default: today in the bank's time zone")
    .option('--urgent', 'ask for urgent execution')
    .option('--type <text>', 'sent as the type of the transfer')
    .option('--reference <text>', 'your own reference; a second transfer with it is refused')
    .option('--payee-verified', 'the name is known to belong to the IBAN: needed for --instant, or asked')
    .addOption(
      new Option(
        '--payee-source <who>',
        "who gave the payee's name and IBAN, which decides whose duty the payee check is; kept in the journal",
      ).choices(PAYEE_SOURCES),
    )
    .option(
      '--verify-data <json>',
      'data of a further verify step, in order: JSON, @file or -; may be repeated',
      collect,
      [],
    )
    .option('--prepare', "show the bank's dates and limits first")
    .addHelpText('after', CREATE_NOTE)
    .action(({ instant = false, urgent = false, payeeVerified = false, prepare = false, ...given }) =>
      run(async (context) =>
        (await import('./create.ts')).transferCreate(context, {
          ...given,
          instant,
          urgent,
          payeeVerified,
          prepare,
        }),
      ),
    );
}

function declarePrepare(transfer: Command, run: Run): void {
  transfer
    .command('prepare')
    .argument('<productId>')
    .description('show which dates, currencies and countries the bank allows')
    .addHelpText('after', examples('psd2 transfer prepare 0012345678'))
    .action((productId) =>
      run(async (context) => (await import('./prepare.ts')).transferPrepare(context, productId), 'inquiry'),
    );
}

function declareList(transfer: Command, run: Run): void {
  transfer
    .command('list')
    .description('list the transfers that were made with this profile, newest first')
    .option('--limit <n>', 'at most so many; default: 30 in a table on a terminal, else all')
    .option('--state <state>', 'only those in this state; may be repeated', collect, [])
    .option('--since <date>', "only those created on this day of the bank's time zone or later, YYYY-MM-DD")
    .addHelpText(
      'after',
      `
A transfer whose journal is damaged is named on stderr, with the file and the line; the others are listed.`,
    )
    .addHelpText(
      'after',
      examples(
        'psd2 transfer list --since 2026-11-01 --state executed',
        "psd2 transfer list --json --state unknown | jq -r '.[].flow'",
      ),
    )
    .action(({ limit, state, since }) =>
      run(async (context) => (await import('./list.ts')).transferList(context, { limit, state, since })),
    );
}

function declareShowAndStatus(transfer: Command, run: Run): void {
  transfer
    .command('show')
    .argument('<flow>')
    .description('show what is known of a transfer, without asking the bank')
    .addHelpText('after', examples('psd2 transfer show tr-0mwq9zj41'))
    .action((flow) => run(async (context) => (await import('./show.ts')).transferShow(context, flow)));

  transfer
    .command('status')
    .argument('<flow>')
    .description('ask the bank how far a transfer is; changes nothing')
    .option('--watch', 'look again and again until it is settled or ended, or only you can go on with it')
    .addHelpText(
      'after',
      `
--watch asks the bank how the customer has decided, with pauses of 3 seconds that grow to 30, and how an instant transfer
settles until 15 seconds after execute: still PENDING then is exit code 9. While another psd2 works on the transfer, the
command follows what that one writes down. Ctrl-C ends it with exit code 130, and changes nothing.
${examples(
  'psd2 transfer status tr-0mwq9zj41 --json | jq -r .authorizationStatus',
  'psd2 transfer status tr-0mwq9zj41 --watch',
)}`,
    )
    .action((flow, { watch = false }) =>
      run(async (context) => (await import('./status.ts')).transferStatus(context, flow, { watch })),
    );
}

function declareResume(transfer: Command, run: Run): void {
  transfer
    .command('resume')
    .argument('[flow]', 'default: the only unfinished transfer, or the one you choose')
    .description('go on with a transfer that was interrupted; asks the bank first and never pays twice')
    .addHelpText('after', examples('psd2 transfer resume tr-0mwq9zj41'))
    .option('--payee-verified', 'the name is known to belong to the IBAN')
    .option(
      '--verify-data <json>',
      'data of a further verify step, in order: JSON, @file or -; may be repeated',
      collect,
      [],
    )
    .action((flow, { payeeVerified = false, verifyData }) =>
      run(async (context) =>
        (await import('./resume.ts')).transferResume(context, flow, {
          payeeVerified,
          verifyData,
        }),
      ),
    );
}

function declareTransferResolve(transfer: Command, run: Run): void {
  declareResolve(
    transfer,
    {
      description: 'end a transfer whose outcome stays unknown, by what a person has found out',
      executed: "it was executed: the account statement or the bank's support says so",
      notExecuted: 'it was not executed and never will be; its --reference can be used again',
      note: RESOLVE_NOTE,
      examples: [
        'psd2 transfer resolve tr-0mwq9zj41 --executed --note "On the statement of 24 November"',
        'psd2 transfer resolve tr-0mwq9zj41 --not-executed --note "Bank support, case 4711" --yes',
      ],
    },
    (flow, options) =>
      run(async (context) => (await import('./resolve.ts')).transferResolve(context, flow, options)),
  );
}

function declareReceipt(transfer: Command, run: Run): void {
  transfer
    .command('receipt')
    .argument('<flow>')
    .description("save the bank's document of an executed transfer")
    .addHelpText('after', examples('psd2 transfer receipt tr-0mwq9zj41 --file receipt.pdf'))
    .option('--file <path>', 'where to save it')
    .action((flow, { file }) =>
      run(async (context) => (await import('./receipt.ts')).transferReceipt(context, flow, file)),
    );
}
