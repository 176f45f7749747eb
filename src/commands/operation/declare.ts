import type { Command } from '@commander-js/extra-typings';
import { ATTENTION_NOTE, collect, declareCancel, declareResolve, examples, type Run } from '../declare.ts';

/** `psd2 operation`: the whole flow, its record, and the single steps. */
export function declareOperation(operation: Command, run: Run): void {
  operation.addHelpText(
    'after',
    `
The data of an operation is JSON: what the bank's documentation shows inside "data". psd2 adds the "data" around it.
Each step prints the flow. Give the flow, or the resource id, to the steps after verify with --resource.
For a bank transfer (moneyTransfer), use "psd2 transfer", which checks more.

Examples:
  $ psd2 operation run standingOrder --product 0012345678 --data @order.json --verify-data @more.json
  $ psd2 operation verify standingOrder --product 0012345678 --data @order.json
  $ psd2 operation sca standingOrder --product 0012345678 --resource <id>
  $ psd2 operation execute standingOrder --product 0012345678 --resource <id>`,
  );
  declareRun(operation, run);
  declareResume(operation, run);
  declareCancel(
    operation,
    { kind: 'an operation', sent: 'execute', example: 'psd2 operation cancel op-0mwq9zj41' },
    (flow) => run(async (context) => (await import('./cancel.ts')).operationCancel(context, flow)),
  );
  declareOperationResolve(operation, run);
  declareListAndShow(operation, run);
  declareSteps(operation, run);
}

function declareRun(operation: Command, run: Run): void {
  operation
    .command('run')
    .argument('<operationName>')
    .description('run an operation: verify, confirm, authorise and execute')
    .addHelpText(
      'after',
      examples(
        'psd2 operation run standingOrder --product 0012345678 --data @order.json',
        'psd2 operation run standingOrder --product 0012345678 --data @order.json --verify-data @more.json --yes --json',
      ),
    )
    .requiredOption('--product <id>', 'product of the operation')
    .option('--data <json>', 'data of the operation: JSON, @file, or - for standard input', '{}')
    .option('--verify-data <json>', 'data for a further verify step, in order; may be repeated', collect, [])
    .option('--receipt <path>', "after execution, save the bank's document in this file")
    .action((name, { product, data, verifyData, receipt }) =>
      run(async (context) =>
        (await import('./run.ts')).operationRun(context, name, { product, data, verifyData, receipt }),
      ),
    );
}

function declareResume(operation: Command, run: Run): void {
  operation
    .command('resume')
    .argument('[flow]', 'default: the only unfinished operation, or the one you choose')
    .description('continue an unfinished operation; asks the bank first and never executes twice')
    .addHelpText('after', examples('psd2 operation resume op-0mwq9zj41'))
    .option('--verify-data <json>', 'data for a further verify step, in order; may be repeated', collect, [])
    .option('--receipt <path>', "after execution, save the bank's document in this file")
    .action((flow, { verifyData, receipt }) =>
      run(async (context) =>
        (await import('./resume.ts')).operationResume(context, flow, { verifyData, receipt }),
      ),
    );
}

function declareOperationResolve(operation: Command, run: Run): void {
  declareResolve(
    operation,
    {
      description: 'end an operation with an unknown outcome by hand',
      executed: "it was executed: the account or the bank's support says so",
      notExecuted: 'it was not executed and never will be',
      note: `For an operation in state unknown or executing. The command first asks the bank again. If the bank's answer decides, that
answer counts. Otherwise the command shows the operation, asks you to confirm, and records who decided what, when and why.
It changes nothing at the bank. First end every psd2 that still works on the operation, also one that Ctrl-Z stopped.
If an older psd2 began a moneyTransfer with "psd2 operation", the command can end it in any state.`,
      examples: [
        'psd2 operation resolve op-0mwq9zj41 --executed --note "The bank\'s site lists the order"',
        'psd2 operation resolve op-0mwq9zj41 --not-executed --note "Bank support, case 4711" --yes',
      ],
    },
    (flow, options) =>
      run(async (context) => (await import('./resolve.ts')).operationResolve(context, flow, options)),
  );
}

function declareListAndShow(operation: Command, run: Run): void {
  operation
    .command('list')
    .description('list the operations of this profile, newest first')
    .option('--attention', 'show only what a person must look at')
    .addHelpText('after', ATTENTION_NOTE)
    .addHelpText('after', examples('psd2 operation list', 'psd2 operation list --attention'))
    .action(({ attention = false }) =>
      run(async (context) => (await import('./list.ts')).operationList(context, { attention })),
    );

  operation
    .command('show')
    .argument('<flow>')
    .description('show the local record of an operation, without asking the bank')
    .addHelpText('after', examples('psd2 operation show op-0mwq9zj41'))
    .action((flow) => run(async (context) => (await import('./show.ts')).operationShow(context, flow)));
}

/** The single steps of `psd2 operation run`. */
function declareSteps(operation: Command, run: Run): void {
  declarePrepare(operation, run);
  declareVerify(operation, run);
  declareStep(
    operation,
    run,
    'sca',
    'send the customer to authorise the operation, and wait for the decision',
  );
  declareStep(operation, run, 'execute', 'execute the operation after the customer has authorised it');
  declareStatus(operation, run);
}

function declarePrepare(operation: Command, run: Run): void {
  operation
    .command('prepare')
    .argument('<operationName>')
    .description("show the bank's general information about an operation")
    .addHelpText('after', examples('psd2 operation prepare standingOrder --product 0012345678 --json'))
    .requiredOption('--product <id>', 'product of the operation')
    .action((name, { product }) =>
      run(
        async (context) => (await import('./prepare.ts')).operationPrepare(context, name, product),
        'inquiry',
      ),
    );
}

function declareVerify(operation: Command, run: Run): void {
  operation
    .command('verify')
    .argument('<operationName>')
    .description(
      'ask the bank to check the data; with --resource, a further step verify<N> that it asked for',
    )
    .addHelpText(
      'after',
      examples(
        'psd2 operation verify standingOrder --product 0012345678 --data @order.json',
        'psd2 operation verify standingOrder --product 0012345678 --resource op-0mwq9zj41 --data @more.json',
      ),
    )
    .requiredOption('--product <id>', 'product of the operation')
    .option('--data <json>', 'data of the operation: JSON, @file, or - for standard input', '{}')
    .option('--resource <id>', 'flow or resource id of a verified operation')
    .action((name, { product, data, resource }) =>
      run(async (context) =>
        (await import('./step.ts')).operationVerify(context, name, { product, data, resource }),
      ),
    );
}

function declareStep(operation: Command, run: Run, step: 'sca' | 'execute', description: string): void {
  operation
    .command(step)
    .argument('<operationName>')
    .description(description)
    .addHelpText(
      'after',
      examples(`psd2 operation ${step} standingOrder --product 0012345678 --resource op-0mwq9zj41`),
    )
    .requiredOption('--product <id>', 'product of the operation')
    .requiredOption('--resource <id>', 'flow or resource id')
    .action((name, { product, resource }) =>
      run(async (context) =>
        (await import('./step.ts')).operationStep(context, step, name, { product, resource }),
      ),
    );
}

function declareStatus(operation: Command, run: Run): void {
  operation
    .command('status')
    .argument('<operationName>')
    .description('ask the bank for the status of an operation; changes nothing')
    .addHelpText(
      'after',
      examples('psd2 operation status standingOrder --product 0012345678 --resource op-0mwq9zj41'),
    )
    .requiredOption('--product <id>', 'product of the operation')
    .requiredOption('--resource <id>', 'flow or resource id')
    .action((name, { product, resource }) =>
      run(
        async (context) =>
          (await import('./status.ts')).operationStatus(context, name, { product, resource }),
        'inquiry',
      ),
    );
}
