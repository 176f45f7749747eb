import { type Command, Option } from '@commander-js/extra-typings';
import { PAYEE_SOURCES } from '../../domain/order/payee-check.ts';
import {
  ATTENTION_NOTE,
  collect,
  declareCancel,
  declareResolve,
  examples,
  optionsOf,
  type Run,
} from '../declare.ts';

const RESOLVE_NOTE = `For a transfer in state unknown or executing, or an instant transfer that stays PENDING, if psd2 transfer resume does not
help. The command first asks the bank again. If the bank's answer decides, that answer counts. Otherwise the command shows
the transfer, asks you to confirm, and records who decided what, when and why. It sends nothing that moves money.

First end every psd2 that still works on the transfer, also one that Ctrl-Z stopped. Then look at the account statement of
the execution day and of the days after it.`;

const CREATE_NOTE = `
On a terminal, the command asks for what is missing: the account (from a list with balances), the payee, the IBAN and the
amount. It checks each as you type. Elsewhere, and with --no-input, it names everything that is missing at once.

The bank verifies the transfer first. Then the command shows the result and asks you, before it sends the customer to
authorise. In a pipeline, --yes confirms in advance.

A --reference is refused if an earlier transfer already used it, unless that transfer definitely failed. The error says what is
different in the two. A reference stays taken if its journal is missing. If a damaged journal does not show its reference, every
--reference is refused.

Exit codes that matter to a script: 6 the customer did not authorise, 8 the payment failed, 9 the outcome is not known yet
("psd2 transfer resume <flow>" finds out and never pays again).

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
    .option('--from <productId>', 'account to debit (required; psd2 asks on a terminal)')
    .option('--to <iban>', "the payee's IBAN (required; psd2 asks on a terminal)")
    .option('--name <text>', "the payee's name (required; psd2 asks on a terminal)")
    .option('--amount <decimal>', 'for example 12.50 (required; psd2 asks on a terminal)')
    .option('--currency <code>', 'currency of the amount', 'EUR')
    .option('--description <text>', 'remittance information, at most 140 characters')
    .option('--instant', 'make an instant transfer (SCT Inst): settled within ten seconds, and final')
    .option('--date <date>', "execution day, YYYY-MM-DD; default: today in the bank's time zone")
    .option('--urgent', 'ask for urgent execution')
    .option('--type <text>', 'type of the transfer, sent to the bank unchanged')
    .option('--reference <text>', 'your own reference; psd2 refuses a second transfer with the same one')
    .option(
      '--payee-verified',
      'you have checked that the name belongs to the IBAN; --instant needs it (psd2 asks on a terminal)',
    )
    .addOption(
      new Option(
        '--payee-source <who>',
        "who gave the payee's name and IBAN; decides who must check the payee, stored in the journal",
      ).choices(PAYEE_SOURCES),
    )
    .option(
      '--verify-data <json>',
      'data for a further verify step, in order: JSON, @file or -; may be repeated',
      collect,
      [],
    )
    .option('--prepare', 'first ask the bank which dates it allows, and refuse any other --date')
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
    .description('list the transfers of this profile, newest first')
    .option(
      '--limit <n>',
      'maximum number of transfers to show; default: 30 in a table on a terminal, otherwise all',
    )
    .option('--state <state>', 'show only transfers in this state; may be repeated', collect, [])
    .option('--attention', 'show only what a person must look at')
    .option(
      '--since <date>',
      "show only transfers created on this day or later (bank's time zone), YYYY-MM-DD",
    )
    .addHelpText(
      'after',
      `${ATTENTION_NOTE}

If a transfer's journal is damaged, psd2 names its file and line on stderr and lists the others.`,
    )
    .addHelpText(
      'after',
      examples(
        'psd2 transfer list --since 2026-11-01 --state executed',
        "psd2 transfer list --attention --json | jq -r '.[].flow'",
      ),
    )
    .action(({ limit, state, since, attention = false }) =>
      run(async (context) =>
        (await import('./list.ts')).transferList(context, { limit, state, since, attention }),
      ),
    );
}

function declareShowAndStatus(transfer: Command, run: Run): void {
  transfer
    .command('show')
    .argument('<flow>')
    .description('show the local record of a transfer, without asking the bank')
    .addHelpText('after', examples('psd2 transfer show tr-0mwq9zj41'))
    .action((flow) => run(async (context) => (await import('./show.ts')).transferShow(context, flow)));

  transfer
    .command('status')
    .argument('<flow>')
    .description('ask the bank for the status of a transfer; changes nothing')
    .option('--watch', 'ask again until the transfer has ended or needs you')
    .addHelpText(
      'after',
      `
--watch asks the bank for the customer's decision, first every 3 seconds and later every 30. It asks for the settlement of an
instant transfer until 15 seconds after execute. If the transfer is still PENDING then, the exit code is 9. While another
psd2 works on the transfer, the command follows its journal. Ctrl-C ends the command with exit code 130 and changes nothing.
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
    .description('continue an unfinished transfer; asks the bank first and never pays twice')
    .addHelpText('after', examples('psd2 transfer resume tr-0mwq9zj41'))
    .option('--payee-verified', 'you have checked that the name belongs to the IBAN')
    .option(
      '--verify-data <json>',
      'data for a further verify step, in order: JSON, @file or -; may be repeated',
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
      description: 'end a transfer with an unknown outcome by hand',
      executed: "it was executed: the account statement or the bank's support says so",
      notExecuted: 'it was not executed and never will be; you can use its --reference again',
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
    .option('--file <path>', 'file to save the document in')
    .action((flow, { file }) =>
      run(async (context) => (await import('./receipt.ts')).transferReceipt(context, flow, file)),
    );
}
