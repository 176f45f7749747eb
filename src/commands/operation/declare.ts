import type { Command } from '@commander-js/extra-typings';
import { collect, declareCancel, declareResolve, examples, type Run } from '../declare.ts';

/** `psd2 operation`: the whole flow, its record, and the steps one by one. */
export function declareOperation(operation: Command, run: Run): void {
  operation.addHelpText(
    'after',
    `
The data of an operation is what the bank's page for it shows inside "data", in JSON: psd2 puts it there.
Each step prints the flow; the steps after verify take it, or the resource id, with --resource.
A bank transfer (moneyTransfer) is made with "psd2 transfer", which checks more.

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
    .description('verify, confirm, authorise and execute')
    .addHelpText(
      'after',
      examples(
        'psd2 operation run standingOrder --product 0012345678 --data @order.json',
        'psd2 operation run standingOrder --product 0012345678 --data @order.json --verify-data @more.json --yes --json',
      ),
    )
    .requiredOption('--product <id>', 'the product it is made with')
    .option('--data <json>', 'JSON, @file, or - for standard input', '{}')
    .option('--verify-data <json>', 'data of a further verify step, in order; may be repeated', collect, [])
    .option('--receipt <path>', "save the bank's document when it is executed")
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
    .description('go on with an operation that was interrupted; asks the bank first and never executes twice')
    .addHelpText('after', examples('psd2 operation resume op-0mwq9zj41'))
    .option('--verify-data <json>', 'data of a further verify step, in order; may be repeated', collect, [])
    .option('--receipt <path>', "save the bank's document when it is executed")
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
      description: 'end an operation whose outcome stays unknown, by what a person has found out',
      executed: "it was executed: the account or the bank's support says so",
      notExecuted: 'it was not executed and never will be',
      note: `For an operation that is unknown or executing. The command asks the bank once more first. If the bank's answer
decides, that counts. Otherwise the command shows the operation, asks for a yes, and writes into the journal who said
what, when and why. It sends nothing that changes anything at the bank. End every psd2 that still works on the operation
first, also one that was stopped with Ctrl-Z. A moneyTransfer that an older psd2 began with "psd2 operation" can be
ended in any state.`,
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
    .description('list the operations that were made with this profile, newest first')
    .addHelpText('after', examples('psd2 operation list'))
    .action(() => run(async (context) => (await import('./list.ts')).operationList(context)));

  operation
    .command('show')
    .argument('<flow>')
    .description('show what is known of an operation, without asking the bank')
    .addHelpText('after', examples('psd2 operation show op-0mwq9zj41'))
    .action((flow) => run(async (context) => (await import('./show.ts')).operationShow(context, flow)));
}

/** The steps of `psd2 operation run`, one by one. */
function declareSteps(operation: Command, run: Run): void {
  declarePrepare(operation, run);
  declareVerify(operation, run);
  declareStep(operation, run, 'sca', 'send the customer to authorise it, and wait for the decision');
  declareStep(operation, run, 'execute', 'execute it, once the customer has authorised it');
  declareStatus(operation, run);
}

function declarePrepare(operation: Command, run: Run): void {
  operation
    .command('prepare')
    .argument('<operationName>')
    .description('show general information, as the bank gives it')
    .addHelpText('after', examples('psd2 operation prepare standingOrder --product 0012345678 --json'))
    .requiredOption('--product <id>', 'the product it is made with')
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
    .description('have the bank check the data; with --resource, a further step verify<N> that it asked for')
    .addHelpText(
      'after',
      examples(
        'psd2 operation verify standingOrder --product 0012345678 --data @order.json',
        'psd2 operation verify standingOrder --product 0012345678 --resource op-0mwq9zj41 --data @more.json',
      ),
    )
    .requiredOption('--product <id>', 'the product it is made with')
    .option('--data <json>', 'JSON, @file, or - for standard input', '{}')
    .option('--resource <id>', 'flow or resource id of an operation that was verified')
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
    .requiredOption('--product <id>', 'the product it is made with')
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
    .description('ask the bank how far it is; changes nothing')
    .addHelpText(
      'after',
      examples('psd2 operation status standingOrder --product 0012345678 --resource op-0mwq9zj41'),
    )
    .requiredOption('--product <id>', 'the product it is made with')
    .requiredOption('--resource <id>', 'flow or resource id')
    .action((name, { product, resource }) =>
      run(
        async (context) =>
          (await import('./status.ts')).operationStatus(context, name, { product, resource }),
        'inquiry',
      ),
    );
}
