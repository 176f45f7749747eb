import { anyBankFile } from '../bank/descriptions.ts';
import { describedFields } from '../bank-file/fields.ts';
import { writeRows } from './rows.ts';

/** The text of `psd2 help bank-file`. */
export function bankFileHelp(): string {
  const rows = describedFields(anyBankFile()).map(({ path, what, standard }) => {
    const value = standard === undefined ? '' : ` (default: ${JSON.stringify(standard)})`;
    return [path, `${what}${value}`] as const;
  });
  return `A bank file describes a bank in JSON. It has only what differs from the standard, or from the platform or the file
that it extends. It has no secret: env:PSD2_BANK_NAME stands for the value of a variable of the environment.

  $ psd2 bank list
  $ echo '{"interface": "nextgenpsd2", "extends": "sparkassen", "verifiedOn": null}' > mybank.json
  $ psd2 bank check mybank.json
  $ psd2 profile add mybank --bank mybank.json --base-url https://api.mybank.example

psd2 bank check names each mistake, and shows the values in force. psd2 schema bank prints the form, for an editor.

${writeRows(rows)}`;
}

/** The text of `psd2 help sandbox`, after the help of the command. */
export function sandboxHelp(): string {
  return `Customers, with their passwords:
${writeRows([
  ['anna', 'anna-sandbox'],
  ['bruno', 'bruno-sandbox'],
  ['carla', 'carla-sandbox; the number of some of her accounts ends with a fault: 0030981500, 00309EMPTY'],
])}

A payee's name can decide how a payment ends. The whole name must match; case and the number of blanks do not matter:
${writeRows([
  ['SCA REFUSED', 'the customer does not authorise (NOT_AUTHORIZED), whatever they answer'],
  ['SCA EXPIRED', 'the time for SCA runs out (EXPIRED), whatever they answer'],
  ['SCA PENDING', 'SCA stays PENDING, whatever they answer'],
  ['VERIFY WARNING', 'verify succeeds with a WARNING and an entry in additionalChecks'],
  ['VERIFY SECOND STEP', 'verify wants a second step: --verify-data \'{"payeeAccepted":true}\''],
  ['EXECUTE REFUSED', 'the bank refuses execute (EXECUTION_REFUSED); no money moves'],
  ['INSTANT KO', 'the instant transfer is executed, and settles as KO; no money moves'],
  ['INSTANT NOW', 'the instant transfer is OK as soon as it is executed'],
  ['INSTANT SLOW', 'the instant transfer is PENDING for 1.5 seconds, then OK'],
  ['INSTANT PENDING', 'the instant transfer is PENDING for 30 seconds, then OK'],
  ['<CALL> <FAULT>', 'each such call fails: EXECUTE 500, STATUS LOST'],
  ['<CALL> <FAULT> ONCE', 'only the first such call of the flow fails: STATUS 420 ONCE'],
])}

Calls: VERIFY, APPROACH, STATUS, EXECUTE, EXECUTION STATUS. Faults:
${writeRows([
  ['401', 'TOKEN_INVALID; the bank does not process the call'],
  ['403', 'the HTML page of a firewall; the bank does not process the call'],
  ['420', 'TOO_MANY_CALLS, and Retry-After: 1; the bank does not process the call'],
  ['500', 'PLANNED_FAILURE; the bank does not process the call'],
  ['204', 'the bank processes the call, and answers 204'],
  ['EMPTY', 'the bank processes the call, and answers 200 with an empty body'],
  ['LOST', 'the bank processes the call, then cuts the connection before its answer'],
])}

psd2 sandbox fault makes any other call fail. psd2 sandbox console shows what the bank sees.`;
}

/** The text of `psd2 help reports`. */
export function reportsHelp(): string {
  return `Of a smoke test, psd2 smoke --report <form>=<file>, as often as wanted; the file - is standard output:
${writeRows([
  ['junit', 'XML for Jenkins, GitLab and GitHub; also by the name *.xml'],
  ['tap', 'Test Anything Protocol; *.tap'],
  ['github', 'annotations in the log of GitHub Actions, chosen there by itself'],
  ['markdown', 'a table for a summary or a ticket; *.md'],
  ['prometheus', "metrics for node_exporter's textfile collector; *.prom"],
  ['nagios', 'a line and an exit code for Nagios, Icinga and Checkmk'],
  ['json', 'the whole result; *.json'],
])}

Of everything else:
${writeRows([
  ['psd2 batch report', 'what became of each payment of a file: csv, json, pain.002 (--format)'],
  ['psd2 accounts report', 'an account in HTML: balance over time, months, counterparties'],
  ['psd2 accounts export', 'booked transactions: csv, ofx, camt053 (--format)'],
  ['psd2 transfer receipt', "the bank's receipt of a transfer"],
  ['psd2 log stats', 'how fast and how often the bank answered, for each kind of call'],
  ['psd2 log bundle', 'calls in a file for the support of the bank, without customer ids'],
  ['psd2 sync --metrics-file', 'what a sync has done, for Prometheus'],
  ['psd2 customer export', 'all that psd2 keeps of a customer'],
  ['psd2 audit', 'who did what'],
])}`;
}
